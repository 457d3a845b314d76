"""Guards of children: what they are about, what a parent is told, and that none waits in vain."""

from tools.guard import Guard

CHILD_GUARDS: tuple[Guard, ...] = (
    Guard(
        "nothing is inherited in silence",
        "machine/instances/child_specs.py",
        "    if EVERY_FIELD in actor.inherits:\n        return",
        "    if True:\n        return",
        "test_t8_a_child_inherits_what_the_graph_says_and_nothing_else",
    ),
    Guard(
        "criteria that a parent lacks",
        "machine/instances/child_specs.py",
        "if _identity(each) not in has)",
        "if False)",
        "test_t8_a_child_gets_no_criterion_that_its_parent_lacks",
    ),
    Guard(
        "children that wait for each other",
        "machine/instances/waiting_children.py",
        "    if waiting and waiting == living:\n",
        "    if False:\n",
        "test_t11_a_plan_that_nobody_checked_never_hangs",
    ),
    Guard(
        "a plan is checked when it is answered",
        "tree/answers/answer_acceptance.py",
        "        reasons += find_plan_problems(protocol, state, effect.instance, path, repaired)\n",
        "",
        "test_t8_a_plan_gives_no_child_a_criterion_that_the_parent_lacks",
    ),
    Guard(
        "what a child gives is there",
        "dialects/graph/proofs/child_results.py",
        "        if path not in arrival.known:\n",
        "        if False:\n",
        "test_t3_a_way_to_complete_without_what_is_given_is_refused",
    ),
    Guard(
        "a planned child is a spec",
        "dialects/graph/spawn.py",
        "        if wrong:\n            message = f\"'{word.text}' is not what",
        "        if False:\n            message = f\"'{word.text}' is not what",
        "test_t8_a_plan_of_another_type_is_refused",
    ),
    Guard(
        "an approval is for what was shown",
        "tree/answers/answer_acceptance.py",
        "        seen = head if is_main else claim.place.entry\n",
        "        seen = repository.resolve_branch_or_commit(\n"
        "            claim.world.workspace, claim.effect.about.branch\n"
        "        )\n",
        "test_what_a_stranger_commits_while_it_is_reviewed_is_not_approved",
    ),
    Guard(
        "removed commits do not come back unseen",
        "tree/branch_moves.py",
        "    if removed and effect.confirmed != removed.name:\n",
        "    if False:\n",
        "test_a_branch_without_what_was_removed_is_merged_as_it_was_approved",
    ),
    Guard(
        "a corrected test is a new one",
        "tree/suites/suite_results.py",
        "    names = frozenset(known) - _list_corrected_ids(new, old, changed)\n",
        "    names = frozenset(known)\n",
        "test_t10_a_test_that_was_named_as_wrong_can_be_corrected_in_place",
    ),
    Guard(
        "no rounds that cannot succeed",
        "tree/branch_moves.py",
        "    if not effect.asks_of_clash or merge.has_ancestor(world.workspace, own, target):\n",
        "    if True:\n",
        "test_t1_without_an_update_a_clash_asks_a_person_at_once_and_then_the_reader",
    ),
    Guard(
        "no plan for what only a person can fix",
        "machine/exits/fault_questions.py",
        "    return why in _WHYS\n",
        "    return False\n",
        "test_t4_a_template_fault_in_a_child_asks_a_person_and_pays_nobody",
    ),
)

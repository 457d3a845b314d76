def test_smoke(at_fork):
    print(list(at_fork.state.positions), list(at_fork.state.in_hand))
    assert at_fork.replayed() == at_fork.state

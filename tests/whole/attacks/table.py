"""All attempts in one table; the page "What holds, and against whom" is made from it."""

from tests.whole.attacks.consent_attacks import CONSENT_ATTACKS
from tests.whole.attacks.environment_attacks import ENVIRONMENT_ATTACKS
from tests.whole.attacks.envoy_attacks import ENVOY_ATTACKS
from tests.whole.attacks.gate_attacks import GATE_ATTACKS
from tests.whole.attacks.hidden_attacks import HIDDEN_ATTACKS
from tests.whole.attacks.measure_attacks import MEASURE_ATTACKS
from tests.whole.attacks.outside_attacks import OUTSIDE_ATTACKS
from tests.whole.attacks.own_test_attacks import OWN_TEST_ATTACKS
from tests.whole.attacks.plan_attacks import PLAN_ATTACKS
from tests.whole.attacks.record_attacks import RECORD_ATTACKS
from tests.whole.attacks.survival_attacks import SURVIVAL_ATTACKS
from tests.whole.attacks.trust_attacks import TRUST_ATTACKS
from tests.whole.attacks.word_attacks import WORD_ATTACKS

ATTACKS = (
    *GATE_ATTACKS,
    *CONSENT_ATTACKS,
    *PLAN_ATTACKS,
    *ENVOY_ATTACKS,
    *WORD_ATTACKS,
    *HIDDEN_ATTACKS,
    *MEASURE_ATTACKS,
    *OWN_TEST_ATTACKS,
    *ENVIRONMENT_ATTACKS,
    *OUTSIDE_ATTACKS,
    *TRUST_ATTACKS,
    *SURVIVAL_ATTACKS,
    *RECORD_ATTACKS,
)

"""The keys that a process remembers as met are bounded, and forgotten oldest first."""

from oxpull_async.app.met_keys import MetKeys


def test_a_key_is_met_from_the_second_time_on() -> None:
    met = MetKeys()
    assert [met.meet("a"), met.meet("a"), met.meet("b"), met.meet("a")] == [False, True, False, True]


def test_old_keys_are_forgotten_and_those_met_again_are_not() -> None:
    met = MetKeys(most=4)
    met.meet("kept")
    for number in range(100):
        met.meet(str(number))
        assert met.meet("kept")
    assert not met.meet("0")
    assert met.meet("99")


def test_no_more_than_two_generations_are_remembered() -> None:
    met = MetKeys(most=10)
    for number in range(1_000):
        met.meet(str(number))
    assert not any(met.meet(str(number)) for number in range(980))

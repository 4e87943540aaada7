"""Items of nested holders: each level takes turns."""

from kasuwa.concurrency.turns import Turns


def take_all(turns: "Turns[str]") -> list[str]:
    return [turns.take() for _ in range(len(turns))]


def test_holders_take_turns_whatever_number_of_items_each_has() -> None:
    turns: Turns[str] = Turns()
    for n in range(4):
        turns.put(("a", "x"), f"a{n}")
    turns.put(("b", "x"), "b0")
    assert (turns.count_items("a"), turns.count_items("b"), turns.count_items("c")) == (4, 1, 0)
    assert take_all(turns) == ["a0", "b0", "a1", "a2", "a3"]
    assert (len(turns), turns.count_items("a")) == (0, 0)


def test_those_of_one_holder_take_turns_among_themselves() -> None:
    turns: Turns[str] = Turns()
    for inner in ("x", "x", "x", "y"):
        turns.put(("a", inner), f"a{inner}")
    turns.put(("b", "z"), "bz")
    assert take_all(turns) == ["ax", "bz", "ay", "ax", "ax"]


def test_who_comes_while_others_wait_has_the_last_turn_of_the_round() -> None:
    turns: Turns[str] = Turns()
    for holder in ("a", "a", "b"):
        turns.put((holder,), holder)
    assert turns.take() == "a"
    turns.put(("c",), "c")
    assert take_all(turns) == ["b", "a", "c"]

"""The text of timelines: references of one object share a timeline, also when it grew between two requests."""

from kasuwa.testing.timelines import render_timelines

ACCEPTED = {"at": "2026-01-05T09:00:00.000001Z", "what": "request", "said": "transfer"}
PAID = {"at": "2026-01-05T09:00:01.000001Z", "what": "step", "said": "paid"}
OTHER = {"at": "2026-01-05T09:00:02.000001Z", "what": "request", "said": "refund"}


def test_references_of_one_object_share_its_longest_timeline() -> None:
    lines = "  2026-01-05 09:00:00  request     transfer\n  2026-01-05 09:00:01  step        paid"
    for first, second in (([ACCEPTED], [ACCEPTED, PAID]), ([ACCEPTED, PAID], [ACCEPTED]), ([ACCEPTED, PAID],) * 2):
        assert render_timelines({"mine": first, "GP1": second}) == f"mine = GP1\n{lines}"


def test_what_ended_between_two_requests_is_of_the_same_object() -> None:
    held = {"at": "2026-01-05T09:00:00.000001Z", "what": "hold", "state": "pending", "taken": "0.00"}
    taken = {**held, "state": "taken", "taken": "5.00"}
    job = {"at": "2026-01-05T09:00:03.000001Z", "what": "job"}
    text = render_timelines({"mine": [ACCEPTED, held, OTHER, job], "GP1": [ACCEPTED, taken, PAID, OTHER]})
    assert text.startswith("mine = GP1\n")
    assert ("(taken, taken 5.00)" in text, "pending" in text, "paid" in text) == (True, False, True)


def test_other_timelines_stay_apart() -> None:
    text = render_timelines({"mine": [ACCEPTED], "nothing": [], "other": [OTHER]})
    first, last = "  2026-01-05 09:00:00  request     transfer", "  2026-01-05 09:00:02  request     refund"
    assert text == f"mine\n{first}\n\nnothing\n\n\nother\n{last}"

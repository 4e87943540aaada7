"""Planted bugs in the table of authority, proposals of commands, and who stands behind accounts and keys."""

from tests.planted.bug import Bug

LIVE = "console/test_two_people_live.py"
WITHIN = "console/test_merchant_authority.py"
TABLE = "walk/test_authority.py"
WALK = "walk/test_authority_live.py"

AUTHORITY = (
    Bug(
        "a command decides alone in live",
        "authority/acts.py",
        "return environment == LIVE and any(act.people > 1 for act in acts)",
        "return environment != LIVE and any(act.people > 1 for act in acts)",
        f"{TABLE}::test_a_command_proposes_in_live_what_two_people_decide_and_acts_in_test",
    ),
    Bug(
        "a command believes the environment of whoever runs it",
        "authority/cooling_off.py",
        "    return str(await connection.fetchval(SELECT_ENVIRONMENT))",
        "    import os\n\n    return os.environ.get('KASUWA_ENVIRONMENT', 'test')",
        f"{LIVE}::test_the_callers_environment_neither_shortens_the_time_nor_makes_live_test",
    ),
    Bug(
        "one operator approves what a command proposed",
        "console/operator/decisions.py",
        "if approval.needs_two_approvers and approval.first_approved_by is None:",
        "if approval.needs_two_approvers and approval.decided_at is not None:",
        f"{LIVE}::test_a_key_that_two_operators_approved_is_shown_to_the_second",
    ),
    Bug(
        "an operator added by command has no cooling-off time",
        "commands/user.py",
        "cooling_off = timedelta() if is_first else await read_cooling_off(connection, vault)",
        "cooling_off = timedelta()",
        f"{LIVE}::test_the_callers_environment_neither_shortens_the_time_nor_makes_live_test",
    ),
    Bug(
        "live starts without a cooling-off time",
        "authority/cooling_off.py",
        "max(wanted, least_hours(environment))",
        "wanted",
        f"{LIVE}::test_the_first_start_in_live_stores_at_least_the_safe_minimum",
    ),
    Bug(
        "disabling the others makes one operator the only one",
        "people/users.py",
        "(user.disabled_at is None or user.disabled_at > since)",
        "(user.disabled_at is None or user.disabled_at < since)",
        f"{LIVE}::test_disabling_the_others_does_not_make_one_operator_the_only_one",
    ),
    Bug(
        "an operator decides what is older than the account",
        "authority/acts.py",
        "if approver.account_since > proposal.proposed_at:",
        "if approver.account_since > now:",
        f"{TABLE}::test_who_may_approve_a_proposal",
    ),
    Bug(
        "a proposal of somebody who was disabled is approved",
        "authority/acts.py",
        "is_same = not operator.is_disabled and operator.account_since",
        "is_same = operator.account_since",
        f"{TABLE}::test_who_may_approve_a_proposal",
    ),
    Bug(
        "one person sets a merchant's webhook URL",
        "authority/acts.py",
        """    roles=CAN_ADMINISTER,
    people=2,
    commands=("merchant set",),
    settings=("webhook_url",),""",
        """    roles=CAN_ADMINISTER,
    people=1,
    commands=("merchant set",),
    settings=("webhook_url",),""",
        f"{LIVE}::test_a_command_proposes_and_two_operators_decide[webhook URL]",
    ),
    Bug(
        "operators who keep the books shorten the cooling-off time",
        "console/operator/approvals.py",
        "    if visit.user.role not in act.roles:\n        raise NotAllowed",
        "    if visit.user.role in ():\n        raise NotAllowed",
        f"{WALK}::test_a_form_in_live_does_what_the_table_says_for_every_role[policy /operator/approvals/{{kind}}]",
    ),
    Bug(
        "a rolled key forgets who rolled it",
        "merchants/keys.py",
        "await add_key(connection, vault, merchant_id, key, roller.take_over(new))",
        "await add_key(connection, vault, merchant_id, key, new)",
        f"{WITHIN}::test_whoever_rolled_a_key_does_not_approve_what_it_sends",
    ),
    Bug(
        "a person approves what a colleague of their own making sends",
        "core/callers.py",
        "senders = {maker.person, *maker.holders, *maker.behind}",
        "senders = {maker.person, *maker.holders}",
        "core/test_callers.py::test_rolled_keys_and_keys_of_ones_own_are_no_other_party",
    ),
    Bug(
        "a new account of a merchant approves at once",
        "transactions/second_party.py",
        "if approver.is_cooling_off:",
        "if approver in makers:",
        f"{WITHIN}::test_new_people_and_keys_approve_nothing_during_the_cooling_off_time",
    ),
    Bug(
        "a developer makes keys that pay",
        "authority/acts.py",
        "own = list_permissions(role)",
        "own = list_permissions(OWNER)",
        f"{TABLE}::test_each_role_makes_only_keys_within_its_own_permissions",
    ),
    Bug(
        "try it of the sandbox makes keys of any scope",
        "console/kit/visit.py",
        "acts.find_excess_scopes(self.user.role, requested_scopes(action, request)):",
        "acts.find_excess_scopes(self.user.role, []):",
        f"{WITHIN}::test_try_it_of_the_sandbox_obeys_the_rules_of_the_pages",
    ),
    Bug(
        "a key that only reads sees names",
        "privacy/personal_fields.py",
        "else scope not in scopes",
        "else scope in scopes",
        "walk/test_personal_fields.py::test_a_key_that_only_reads_sees_no_personal_data",
    ),
)

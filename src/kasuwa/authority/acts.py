"""The table of authority: every act that moves money or changes a price, rate, limit, key, role, rail or setting.

Each row says who may do it, how many people decide it, whether a second factor is asked for, and through which doors it
can be done. All doors read it: the console's pages (console/routes.py), "try it" (console/kit/visit.py), commands
(commands/proposing.py) and the approvals page. tests/walk/test_authority.py fails for a page, command or action that is
neither here nor in doors.py, which lists what needs no row, with the reason.

    people  in live    in test
    1       acts       acts
    2       proposes   acts by command; on a page as `people_in_test` says

What two people decide, one proposes and another approves. A command proves nobody: two operators approve what it
proposes.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from kasuwa.authority.roles import (
    CAN_ADMINISTER,
    CAN_INTEGRATE,
    CAN_KEEP_BOOKS,
    CAN_MANAGE_USERS,
    CAN_MOVE_MONEY,
    CAN_SUPPORT,
    IS_OWNER,
    OWNER,
    ROLES_BY_PERMISSION,
    list_permissions,
)
from kasuwa.core.action import COLLECT, INTEGRATE, MANAGE, PAY, VIEW, Permission
from kasuwa.core.callers import APPROVING_SCOPES, KEY_SCOPES, KeyScope

LIVE = "live"


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table."""

    name: str  # unique; the kind of its proposals, if it has any
    title: str
    roles: frozenset[str]  # who may do or propose it on a page, and approve it
    people: int = 1  # who decide it in live
    people_in_test: int = 1  # who decide it on a page of the test environment
    asks_second_factor: bool = False  # always. Payments also ask from a certain amount on (console/kit/visit.py)
    pages: tuple[str, ...] = ()  # paths of forms
    commands: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()  # of the API, whose permission alone does not say who may do it
    permission: Permission | None = None  # all actions of this permission that no other row names
    settings: tuple[str, ...] = ()  # fields of MerchantSettings that it changes


RECORD_FORMS = ("/{records}/new/{form}", "/{records}/{reference}/{form}")
APPROVALS = "/operator/approvals/{kind}"
ENDPOINT = "/settings/endpoints/{endpoint_id}"
TEAM = ("/team", "/team/{user_id}/role", "/team/{user_id}/invite")

# --- of a merchant's people -----------------------------------------------------------------------------------------

SEND_MONEY = Act(
    name="pay",
    title="Payment",
    roles=ROLES_BY_PERMISSION[PAY],
    pages=(
        "/transactions/{ref}/{transaction_form}",
        "/transfers/send",
        "/transfers/bulk/send",
        "/transfers/batches/{batch_ref}/retry",
        *RECORD_FORMS,
    ),
    permission=PAY,
)
# By somebody else than who sent it: core/callers.py.
APPROVE_TRANSFER = Act(
    name="approve_transfer",
    title="Approval of a transfer",
    roles=CAN_MOVE_MONEY,
    pages=("/transfers/waiting/{ref}/{verdict}", "/transfers/batches/{batch_ref}/{verdict}"),
    actions=("disburse approve", "disburse reject"),
)
# By somebody else than who asked for it.
DECIDE_REDEMPTION = Act(
    name="decide_redemption",
    title="Decision on a redemption of shares",
    roles=CAN_MOVE_MONEY,
    actions=("investments approve_redemption", "investments reject_redemption"),
)
# By somebody else than who asked for it.
DECIDE_REACTIVATION = Act(
    name="decide_reactivation",
    title="Decision on a reactivation of savings",
    roles=CAN_MOVE_MONEY,
    actions=("investments decide_reactivation",),
)
# Moves what a client owes, and no money: whoever may move money decides it.
REVERSE_REPAYMENT = Act(
    name="reverse_repayment",
    title="Reversal of a repayment",
    roles=CAN_MOVE_MONEY,
    actions=("loans reverse",),
)
# Decides what new loans cost.
LOAN_PRODUCT = Act(
    name="loan_product",
    title="Loan product",
    roles=CAN_MOVE_MONEY,
    asks_second_factor=True,
    actions=("loans create_product", "loans update_product", "loans close_product"),
)
# A reschedule moves what a client owes; a top-up pays out, as an approval does.
RESCHEDULE_LOAN = Act(
    name="reschedule_loan",
    title="Reschedule or top-up of a loan",
    roles=CAN_MOVE_MONEY,
    actions=("loans reschedule", "loans top_up"),
)
# Above the limit of the payout policy another party decides it too: methods/loans/rules/write_off.py.
WRITE_OFF_DEBT = Act(
    name="write_off_debt",
    title="Write-off or waiver of a client's debt",
    roles=CAN_MOVE_MONEY,
    actions=("loans write_off", "loans decide_write_off", "loans waive"),
)
COLLECT_MONEY = Act(
    name="collect",
    title="Collection",
    roles=ROLES_BY_PERMISSION[COLLECT],
    pages=("/groups/{reference}/meeting",),
    permission=COLLECT,
)
MANAGE_RECORDS = Act(name="manage", title="Record", roles=ROLES_BY_PERMISSION[MANAGE], permission=MANAGE)
INTEGRATION = Act(
    name="integrate",
    title="Integration",
    roles=ROLES_BY_PERMISSION[INTEGRATE],
    pages=(
        "/events/resend",
        "/events/{seq}/resend",
        "/events/settlements",
        "/settings/webhook/test",
        f"{ENDPOINT}/test",
        f"{ENDPOINT}/resend",
        "/settings/logo",
        "/settings/mail",
        "/settings/business",
        "/settings/wire",
        "/sandbox/{action}",
        "/sandbox/world-file/export",
        "/sandbox/world-file/import",
    ),
    permission=INTEGRATE,
)
WEBHOOK = Act(
    name="webhook",
    title="Webhook endpoint",
    roles=CAN_INTEGRATE,
    asks_second_factor=True,
    pages=(
        "/settings/webhook",
        "/settings/endpoints",
        f"{ENDPOINT}/save",
        f"{ENDPOINT}/remove",
        f"{ENDPOINT}/secret",
    ),
    actions=("sandbox webhook",),
)
# Nobody makes or rolls a key that may do more than they may: find_excess_scopes.
OWN_KEY = Act(
    name="own_key",
    title="API key",
    roles=CAN_INTEGRATE,
    asks_second_factor=True,
    pages=("/settings/keys", "/settings/keys/{key_id}/roll"),
    actions=("sandbox new_key",),
)
# One new key replaces all keys of scope `all`.
OWN_FULL_KEY = Act(
    name="own_full_key",
    title="API key of scope all",
    roles=IS_OWNER,
    asks_second_factor=True,
    pages=("/settings/key",),
)
END_OWN_KEY = Act(
    name="end_own_key",
    title="End of an API key",
    roles=CAN_INTEGRATE,
    asks_second_factor=True,
    pages=("/settings/keys/{key_id}/revoke",),
)
OWN_SECRET = Act(
    name="own_secret",
    title="Signing secret",
    roles=CAN_INTEGRATE,
    asks_second_factor=True,
    pages=("/settings/secret",),
)
PAYOUT_POLICY = Act(
    name="payout_policy",
    title="Payout policy",
    roles=IS_OWNER,
    asks_second_factor=True,
    pages=("/settings/payouts",),
    actions=("sandbox payout_policy",),
)
# In live the operator does it: LIMITS.
OWN_CLIENT_TIERS = Act(
    name="own_client_tiers",
    title="Limits by tier of clients",
    roles=IS_OWNER,
    asks_second_factor=True,
    actions=("sandbox client_tiers",),
)
# Whoever frames the page on which people pay could lay something over it.
OWN_CHECKOUT_ORIGINS = Act(
    name="own_checkout_origins",
    title="Sites that may show checkouts",
    roles=IS_OWNER,
    asks_second_factor=True,
    pages=("/settings/origins",),
    actions=("sandbox checkout_origins",),
)
# A world has the keys and the payout policy of its time.
RESTORE_WORLD = Act(
    name="restore_world",
    title="World",
    roles=IS_OWNER,
    asks_second_factor=True,
    pages=("/sandbox/worlds/{action}",),
    actions=("sandbox restore", "sandbox fork"),
    settings=("token_space", "copied_from"),
)
# Its requests set the payout policy, make a key, pay, lend and approve.
TRIGGER_EVENT = Act(
    name="trigger_event",
    title="Event on demand",
    roles=IS_OWNER,
    asks_second_factor=True,
    actions=("sandbox trigger",),
)
# Mails to people have links that let their reader in as whoever they are for, the owner too. A key of scope `all` reads
# them too, which owners and operators alone make.
OUTBOX = Act(
    name="outbox",
    title="Mails to people",
    roles=IS_OWNER,
    asks_second_factor=True,
    actions=("sandbox people_mails",),
)
OWN_BENEFICIARY = Act(
    name="own_beneficiary",
    title="Split beneficiary",
    roles=CAN_MOVE_MONEY,
    actions=("console beneficiary", "sandbox beneficiary"),
)
MEMBER = Act(name="member", title="Member of a team", roles=IS_OWNER, asks_second_factor=True, pages=TEAM)
DISABLE_USER = Act(
    name="disable_user",
    title="End of an account",
    roles=CAN_MANAGE_USERS,
    asks_second_factor=True,
    pages=("/team/{user_id}/disable",),
    commands=("user disable",),
)

# --- of operators ---------------------------------------------------------------------------------------------------

# One person ends what may be misused, because it must be quick. What begins or widens something needs two.
# A new merchant has empty books, the default limits and tariff, and no owner: nothing of anybody else's goes elsewhere
# because of it. Its first key moves no more than the merchant has collected by then, and the owner should roll it when
# they join (docs/operating.md). Whatever gives the merchant more (limits, terms, rails, further keys that pay) needs
# two people.
ADD_MERCHANT = Act(
    name="add_merchant",
    title="Merchant",
    roles=CAN_ADMINISTER,
    asks_second_factor=True,
    pages=("/operator/merchants",),
    commands=("merchant add",),
)
FIRST_OWNER = Act(
    name="first_owner",
    title="First owner of a merchant",
    roles=CAN_ADMINISTER,
    asks_second_factor=True,
    pages=("/operator/merchants/{mid}/invite",),
    commands=("user add", "user link"),
)
SUSPENSION = Act(name="suspension", title="Suspension", roles=CAN_SUPPORT, pages=("/operator/merchants/{mid}/suspend",))
END_KEY = Act(name="end_key", title="End of an API key", roles=CAN_ADMINISTER, commands=("merchant revoke-key",))
HARMLESS_KEY = Act(
    name="harmless_key",
    title="API key that cannot move money out",
    roles=CAN_ADMINISTER,
    commands=("merchant add-key", "merchant roll-key"),
)
# While fewer than two operators have joined, so that there can be two.
FIRST_OPERATOR = Act(
    name="first_operator",
    title="One of the first operators",
    roles=CAN_ADMINISTER,
    commands=("user add", "user link"),
)
APPEARANCE = Act(
    name="appearance",
    title="Setting of a merchant",
    roles=CAN_ADMINISTER,
    commands=("merchant set", "merchant logo"),
    settings=("webhook_order", "http_codes", "logo", "mail", "business", "outcome_seed"),
)
# The file leaves the deployment: without people and secrets, but with what one merchant did, and when.
EXPORT_CASE = Act(name="case", title="Case file", roles=CAN_SUPPORT, commands=("case export",))
ASK_RAIL = Act(name="ask_rail", title="Question to a rail", roles=CAN_SUPPORT, pages=("/operator/work/{key}",))
# Whoever has the secret key of the deployment, which these commands need, can read everything anyway.
DATA_KEY = Act(name="data_key", title="Encryption key", roles=CAN_ADMINISTER, commands=("keys rotate", "keys drop"))
DECIDE = Act(
    name="decide",
    title="Decision on a proposal",
    roles=CAN_KEEP_BOOKS,
    asks_second_factor=True,
    pages=("/operator/approvals/{approval_id}/{verdict}",),
)


def propose_on_page(
    name: str, title: str, *, page: str = "", command: str = "", roles: frozenset[str] = CAN_KEEP_BOOKS
) -> Act:
    """Returns an act that has a form on the approvals page. Two people decide it also in the test environment."""
    return Act(
        name=name,
        title=title,
        roles=roles,
        people=2,
        people_in_test=2,
        asks_second_factor=True,
        pages=(APPROVALS, *((page,) if page else ())),
        commands=(command,) if command else (),
    )


def command_in_books(name: str, title: str, command: str) -> Act:
    """Returns an act in a merchant's books that operators do by command."""
    return Act(name=name, title=title, roles=CAN_KEEP_BOOKS, people=2, commands=(command,))


POSTING = propose_on_page("posting", "Manual posting", page="/operator/reconciliation/{account_id}/{item}")
WRITE_OFF = propose_on_page("write_off", "Write-off")
REVERSAL = propose_on_page("reversal", "Reversal by a rail")
ASSIGN = propose_on_page("suspense_assign", "Assignment of money in suspense", command="reconcile assign")
RETURN = propose_on_page("suspense_return", "Return of money in suspense", command="reconcile return")
TARIFF = msgspec.structs.replace(propose_on_page("tariff", "Tariff", command="merchant set"), settings=("tariff",))
RATE = propose_on_page("rate", "Exchange rate", command="rates set")
POLICY = propose_on_page("policy", "Cooling-off time", roles=CAN_ADMINISTER)
LOAN_WRITE_OFF = command_in_books("loan_write_off", "Write-off of a loan", "loan write-off")
DISPUTE_OPEN = command_in_books("dispute_open", "Dispute", "dispute open")
DISPUTE_OUTCOME = command_in_books("dispute_outcome", "Outcome of a dispute", "dispute outcome")
CARD_DISPUTE_OUTCOME = command_in_books(
    "card_dispute_outcome", "Outcome of a dispute of a card purchase", "dispute card-outcome"
)
BENEFICIARY = command_in_books("beneficiary", "Split beneficiary", "split add")
# One person suspends a merchant, because that must be quick. Who let it pay again alone could undo what a colleague
# suspects.
RESUMPTION = Act(
    name="resumption",
    title="End of a suspension",
    roles=CAN_ADMINISTER,
    people=2,
    asks_second_factor=True,
    pages=("/operator/merchants/{mid}/resume",),
    settings=("suspended",),
)
LIMITS = Act(
    name="limits",
    title="Limits and terms of a merchant",
    roles=CAN_KEEP_BOOKS,
    people=2,
    asks_second_factor=True,
    pages=("/operator/merchants/{mid}/limits",),
    commands=("merchant set",),
    settings=(
        "limits",
        "rate",
        "settlement_days",
        "inbound_bank",
        "lending",
        "savings",
        "dispute_credit",
        "reserve",
        "payouts",
        "payouts_change",
        "client_tiers",
    ),
)
RAILS = Act(
    name="rails",
    title="Rails of a merchant",
    roles=CAN_ADMINISTER,
    people=2,
    asks_second_factor=True,
    pages=("/operator/merchants/{mid}/rails",),
    commands=("merchant set",),
    settings=("rails",),
)
# Where the events of a merchant go. The merchant's own people set it on their page: WEBHOOK.
EVENTS_URL = Act(
    name="events_url",
    title="Webhook URL of a merchant",
    roles=CAN_ADMINISTER,
    people=2,
    commands=("merchant set",),
    settings=("webhook_url",),
)
# The merchant's own people set it on their page: OWN_CHECKOUT_ORIGINS.
CHECKOUT_ORIGINS = Act(
    name="checkout_origins",
    title="Sites that may show a merchant's checkouts",
    roles=CAN_ADMINISTER,
    people=2,
    commands=("merchant set",),
    settings=("checkout_origins",),
)
# Where open orders are asked after: an order that the named account does not know is taken as not sent.
VENDOR_ACCOUNT = Act(
    name="vendor_account",
    title="Account with a vendor",
    roles=CAN_ADMINISTER,
    people=2,
    commands=("rail accounts",),
)
KEY = Act(
    name="key",
    title="API key or signing secret",
    roles=CAN_ADMINISTER,
    people=2,
    commands=("merchant add-key", "merchant roll-key", "merchant roll-secret"),
)
# Operators, and by command also the people of a merchant that has an owner.
PERSON = Act(
    name="person",
    title="Change of a user",
    roles=CAN_ADMINISTER,
    people=2,
    people_in_test=2,
    asks_second_factor=True,
    pages=TEAM,
    commands=("user add", "user link"),
)

ACTS: tuple[Act, ...] = (
    SEND_MONEY,
    APPROVE_TRANSFER,
    DECIDE_REDEMPTION,
    DECIDE_REACTIVATION,
    REVERSE_REPAYMENT,
    RESCHEDULE_LOAN,
    LOAN_PRODUCT,
    WRITE_OFF_DEBT,
    COLLECT_MONEY,
    MANAGE_RECORDS,
    INTEGRATION,
    WEBHOOK,
    OWN_KEY,
    OWN_FULL_KEY,
    END_OWN_KEY,
    OWN_SECRET,
    PAYOUT_POLICY,
    OWN_CLIENT_TIERS,
    OWN_CHECKOUT_ORIGINS,
    RESTORE_WORLD,
    TRIGGER_EVENT,
    OUTBOX,
    OWN_BENEFICIARY,
    MEMBER,
    DISABLE_USER,
    ADD_MERCHANT,
    FIRST_OWNER,
    SUSPENSION,
    END_KEY,
    HARMLESS_KEY,
    FIRST_OPERATOR,
    APPEARANCE,
    EXPORT_CASE,
    ASK_RAIL,
    DATA_KEY,
    DECIDE,
    POSTING,
    WRITE_OFF,
    REVERSAL,
    ASSIGN,
    RETURN,
    TARIFF,
    RATE,
    LOAN_WRITE_OFF,
    DISPUTE_OPEN,
    DISPUTE_OUTCOME,
    CARD_DISPUTE_OUTCOME,
    BENEFICIARY,
    POLICY,
    LIMITS,
    RAILS,
    EVENTS_URL,
    CHECKOUT_ORIGINS,
    RESUMPTION,
    VENDOR_ACCOUNT,
    KEY,
    PERSON,
)
ACTS_BY_NAME = {act.name: act for act in ACTS}
ACT_OF_SETTING = {field: act for act in ACTS for field in act.settings}
# The kind of proposals that change several settings of a merchant, of one act or more.
SETTINGS_KIND = "settings"


# --- doors ----------------------------------------------------------------------------------------------------------


def acts_of_page(path: str) -> tuple[Act, ...]:
    """Returns the acts that a form of the console does. Raises LookupError if the table has none."""
    acts = tuple(act for act in ACTS if path in act.pages)
    if not acts:
        raise LookupError(f"{path}: no act of the table is done by this page")
    return acts


def acts_of_command(name: str) -> tuple[Act, ...]:
    return tuple(act for act in ACTS if name in act.commands)


def act_of_action(title: str, permission: Permission) -> Act | None:
    """Returns the act that an action of the API does. None if it only shows. `title` is such as `disburse approve`."""
    named = next((act for act in ACTS if title in act.actions), None)
    if named is not None or permission == VIEW:
        return named
    return next(act for act in ACTS if act.permission == permission)


def acts_of_settings(fields: Iterable[str]) -> tuple[Act, ...]:
    """Returns the acts that change these settings of a merchant, each once."""
    return tuple(dict.fromkeys(ACT_OF_SETTING[field] for field in fields))


def acts_of_proposal(kind: str, proposal: Mapping[str, Any]) -> tuple[Act, ...]:
    """Returns the acts that a proposal would do. Who approves it must be allowed all of them."""
    return acts_of_settings(proposal) if kind == SETTINGS_KIND else (ACTS_BY_NAME[kind],)


def is_proposed_by_command(acts: Iterable[Act], environment: str) -> bool:
    """Returns whether a command only proposes these acts. `environment` is that of the database, not the caller's."""
    return environment == LIVE and any(act.people > 1 for act in acts)


def is_proposed_on_page(act: Act, environment: str) -> bool:
    return (act.people if environment == LIVE else act.people_in_test) > 1


# --- giving ---------------------------------------------------------------------------------------------------------

# The permissions that the actions of each scope need. tests/walk/test_authority.py compares them with the actions.
SCOPE_PERMISSIONS: dict[KeyScope, frozenset[Permission]] = {
    "collect": frozenset({VIEW, COLLECT, MANAGE}),
    "payout": frozenset({VIEW, PAY}),
    "issue": frozenset({VIEW, PAY, MANAGE}),
    "lend": frozenset({VIEW, PAY, COLLECT, MANAGE}),
    "read": frozenset({VIEW}),
    "approve": frozenset({PAY}),
    "all": frozenset({VIEW, COLLECT, PAY, MANAGE, INTEGRATE}),
}


def find_excess_scopes(role: str, scopes: Collection[KeyScope]) -> list[KeyScope]:
    """Returns the scopes that let a key do more than a person of this role may. Only owners make keys that approve:
    such a key could approve what another key of the same person sends. Contract: keys#making"""
    own = list_permissions(role)
    return [
        scope
        for scope in KEY_SCOPES
        if scope in scopes and (SCOPE_PERMISSIONS[scope] - own or (scope in APPROVING_SCOPES and role != OWNER))
    ]


def moves_money(scopes: Collection[KeyScope]) -> bool:
    """Returns whether a key of these scopes can move money out or release it."""
    return any(PAY in SCOPE_PERMISSIONS[scope] for scope in scopes)


def can_give_role(giver: str, role: str) -> bool:
    """Returns whether a person may give this role: all its acts are the giver's too."""
    return all(giver in act.roles for act in ACTS if role in act.roles)


# --- deciding -------------------------------------------------------------------------------------------------------


class Decider(msgspec.Struct, frozen=True):
    """An operator who proposes or decides, as far as it matters for that."""

    user_id: int
    email: str
    role: str
    makers: Collection[str]  # who made, reset or promoted the account, those who made these, and so on
    account_since: datetime  # when it was made, reset or promoted last
    can_approve_from: datetime | None
    is_disabled: bool = False


OWN_PROPOSAL = "You proposed this, so another operator must decide it. You can withdraw it."
OWN_APPROVAL = "You have approved this. Another operator must approve it as well."
OWN_ACCOUNT = "This is about your own account, so another operator must decide it."
NOT_ALLOWED = "Your role does not allow this change, so you cannot approve it."
NOT_INDEPENDENT = (
    "You and the other operator who stands for this are not independent: one of you invited the other. Another "
    "operator must decide this."
)
COOLING_OFF = "Your account is new or was changed recently. You can approve from {when} on."
NO_PROPOSER = (
    "The operator who proposed this was disabled, reset or given another role since. Reject it, and propose it again."
)
NO_FIRST_APPROVER = "Who approved this first was reset or given another role since. Reject it, and propose it again."
OLDER_PROPOSAL = "This was proposed before your account was made or changed. Another operator must decide it."


class OpenProposal(msgspec.Struct, frozen=True):
    """A proposal that waits, as far as it matters for who may approve it."""

    acts: tuple[Act, ...]
    proposed_at: datetime
    subject_id: int  # the account that it changes; 0 for none
    proposer: Decider | None  # None if a command proposed it: then two operators approve it
    first_approver: Decider | None  # of such a proposal

    @property
    def counterpart(self) -> Decider | None:
        """Returns the operator who stands for it besides the one who approves it now."""
        return self.proposer or self.first_approver


def vouches(operator: Decider, proposal: OpenProposal) -> bool:
    """Returns whether the operator who proposed something, or approved it first, still stands for it: the account is
    as old as the proposal, and may still do what was proposed."""
    is_same = not operator.is_disabled and operator.account_since <= proposal.proposed_at
    return is_same and all(operator.role in act.roles for act in proposal.acts)


def explain_bar(approver: Decider, proposal: OpenProposal, now: datetime) -> str | None:
    """Returns why an operator may not approve a proposal, or None. A trigger of the database checks most of it too."""
    other = proposal.counterpart
    if other is not None and other.user_id == approver.user_id:
        return OWN_PROPOSAL if proposal.proposer is not None else OWN_APPROVAL
    if other is not None and (approver.email in other.makers or other.email in approver.makers):
        return NOT_INDEPENDENT
    if approver.can_approve_from is not None and approver.can_approve_from > now:
        return COOLING_OFF.format(when=f"{approver.can_approve_from:%Y-%m-%d %H:%M} UTC")
    if approver.account_since > proposal.proposed_at:
        return OLDER_PROPOSAL
    if any(approver.role not in act.roles for act in proposal.acts):
        return NOT_ALLOWED
    if other is not None and not vouches(other, proposal):
        return NO_PROPOSER if proposal.proposer is not None else NO_FIRST_APPROVER
    return OWN_ACCOUNT if proposal.subject_id == approver.user_id else None

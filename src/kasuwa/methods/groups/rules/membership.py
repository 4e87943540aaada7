"""Rules of making and changing groups: who is a member, who leads, and when a group is closed.

Contract: loans#groups
"""

from collections.abc import Sequence

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Refusal,
    Row,
    refuse_fields,
)
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.references import opaque_id
from kasuwa.methods.clients.model import UNKNOWN_CLIENT, Client, adjust_groups, client_key, refuse_inactive
from kasuwa.methods.groups.model import (
    ACTIVE,
    CLOSED,
    GROUP_CLOSED,
    GROUP_IN_ARREARS,
    GROUP_PREFIX,
    MAX_MEMBERS,
    MIN_MEMBERS,
    UNKNOWN_GROUP,
    GroupMember,
    find_open_loans,
    list_unsettled,
    member_key,
)
from kasuwa.methods.groups.rules.records import GroupNews, make_group_record, tell_of_group
from kasuwa.methods.groups.rules.standing import is_in_arrears
from kasuwa.methods.groups.wire import CreateGroupRequest, GroupReply, UpdateGroupRequest
from kasuwa.methods.loans.group_model import ClientGroup, group_key
from kasuwa.methods.loans.model import Loan

# Refusals, in order of precedence.
NAMED_TWICE = "a client is named once"
LEADER_IS_NO_MEMBER = refuse_fields(FieldError("leader", "one of the members", "leader_is_no_member"))
ALREADY_MEMBER = refuse_fields(FieldError("add", "clients who are no members of it yet", "already_a_member"))
NO_MEMBER = refuse_fields(FieldError("remove", "members of it", "not_a_member"))
TOO_MANY = refuse_fields(FieldError("add", f"with them, the group has more than {MAX_MEMBERS} members", "group_full"))
TOO_FEW = refuse_fields(
    FieldError("remove", f"without them, fewer than {MIN_MEMBERS} members are left; close the group", "group_too_small")
)
LEADER_LEAVES = Refusal(
    INVALID_REQUEST, "The leader leaves the group: name another member as leader", error_code="leader_leaves"
)
MEMBER_OWES = Refusal(
    INVALID_REQUEST,
    "A loan of the group to {client_id} is open; the member leaves once it is closed",
    error_code="member_owes",
)
GROUP_OWES = Refusal(INVALID_REQUEST, "A loan of the group is open; close it first", error_code="group_owes")
NOTHING_ASKED = Refusal(
    INVALID_REQUEST,
    "Say what is to change: name, add, remove, leader or close",
    error_code="nothing_to_change",
)
CLOSE_WITH_OTHERS = Refusal(INVALID_REQUEST, "close goes with nothing else", error_code="close_not_alone")


# --- making -------------------------------------------------------------------------------------------------------


def check_named_once(merchant: Merchant, clients: list[str] | None) -> str | None:
    return None if clients is None or len(set(clients)) == len(clients) else NAMED_TWICE


def need_clients(merchant_id: int, clients: Sequence[str]) -> Needs:
    return Needs(tuple((Client, client_key(merchant_id, client_id)) for client_id in clients))


def need_create(request: CreateGroupRequest, merchant: Merchant) -> Needs:
    return need_clients(merchant.merchant_id, request.members)


def decide_create(request: CreateGroupRequest, context: Context, rows: LoadedRows) -> Decision[GroupReply] | Refusal:
    clients = find_clients(context.merchant.merchant_id, request.members, rows)
    if isinstance(clients, Refusal):
        return clients
    if request.leader not in request.members:
        return LEADER_IS_NO_MEMBER
    merchant_id, group_id = context.merchant.merchant_id, opaque_id(GROUP_PREFIX, context.entropy)
    group = ClientGroup(
        key=group_key(merchant_id, group_id),
        merchant_id=merchant_id,
        group_id=group_id,
        number=context.number,
        name=request.name,
        leader=request.leader,
        state=ACTIVE,
        members=",".join(request.members),
        created_at=context.now,
    )
    if request.dry_run:
        record = make_group_record(group)
        record.group_id = None
        return Decision(reply=GroupReply(message=DRY_RUN_MESSAGE, data=record, dry_run=True, explained=[]))
    joined = [
        GroupMember(member_key(merchant_id, group_id, one), merchant_id, group_id, one, context.now)
        for one in request.members
    ]
    noted = tell_of_group(group, [GroupNews("created")], context)
    decision = Decision(
        reply=GroupReply(message="Group Created", data=make_group_record(noted.group)),
        rows=(noted.group, *joined, *(adjust_groups(client, 1) for client in clients)),
        numbers_used=1,
    )
    decision.add(noted.effects)
    return decision


def find_clients(merchant_id: int, wanted: Sequence[str], rows: LoadedRows) -> list[Client] | Refusal:
    """Returns active clients, or why one of them cannot be a member."""
    clients = []
    for client_id in wanted:
        client = rows.get(Client, client_key(merchant_id, client_id))
        if client is None:
            return UNKNOWN_CLIENT
        refusal = refuse_inactive(client)
        if refusal is not None:
            return refusal
        clients.append(client)
    return clients


# --- changing -----------------------------------------------------------------------------------------------------


def need_update(request: UpdateGroupRequest, merchant: Merchant) -> Needs:
    merchant_id = merchant.merchant_id
    named = [*(request.add or ()), *(request.remove or ())]
    members = tuple((GroupMember, member_key(merchant_id, request.group_id, one)) for one in named)
    clients = need_clients(merchant_id, list(dict.fromkeys(named)))
    return Needs(((ClientGroup, group_key(merchant_id, request.group_id)), *dict.fromkeys(members), *clients.rows))


def decide_update(
    request: UpdateGroupRequest, context: Context, rows: LoadedRows
) -> Decision[GroupReply] | Refusal | NeedsMore:
    group = rows.get(ClientGroup, group_key(context.merchant.merchant_id, request.group_id))
    if group is None:
        return UNKNOWN_GROUP
    if group.state == CLOSED:
        return GROUP_CLOSED
    others = (request.name, request.add, request.remove, request.leader)
    has_others = any(value is not None for value in others)
    if request.close and has_others:
        return CLOSE_WITH_OTHERS
    if not request.close and not has_others:
        return NOTHING_ASKED
    open_loans = find_open_loans(group, rows)
    if isinstance(open_loans, NeedsMore):
        return open_loans
    settled = msgspec.structs.replace(group, unsettled=list_unsettled(group, open_loans))
    if request.close:
        return close_group(request, settled, open_loans, context, rows)
    return change_group(request, settled, open_loans, context, rows)


def close_group(
    request: UpdateGroupRequest,
    group: ClientGroup,
    open_loans: Sequence[Loan],
    context: Context,
    rows: LoadedRows,
) -> Decision[GroupReply] | Refusal | NeedsMore:
    """Closes a group: all members leave it."""
    if open_loans:
        return GROUP_OWES
    leaving = group.client_ids
    members = tuple((GroupMember, member_key(group.merchant_id, group.group_id, one)) for one in leaving)
    needs = Needs((*members, *need_clients(group.merchant_id, leaving).rows))
    if not all(rows.is_loaded(key) for _, key in needs.rows):
        return NeedsMore(needs)
    closed = msgspec.structs.replace(group, state=CLOSED, members="", leader="", closed_at=context.now)
    return record_change(request, closed, [GroupNews("closed")], leave(group, leaving, context, rows), context)


def change_group(
    request: UpdateGroupRequest,
    group: ClientGroup,
    open_loans: Sequence[Loan],
    context: Context,
    rows: LoadedRows,
) -> Decision[GroupReply] | Refusal | NeedsMore:
    adding, leaving = request.add or [], request.remove or []
    clients = find_clients(group.merchant_id, adding, rows)
    if isinstance(clients, Refusal):
        return clients
    is_late = bool(leaving) and is_in_arrears(open_loans, context, rows)
    if isinstance(is_late, NeedsMore):
        return is_late
    refusal = refuse_change(request, group, open_loans, is_late)
    if refusal is not None:
        return refusal
    staying = [*(one for one in group.client_ids if one not in leaving), *adding]
    leader = request.leader or group.leader
    changed = msgspec.structs.replace(group, name=request.name or group.name, members=",".join(staying), leader=leader)
    news = [
        *(GroupNews("member_joined", one) for one in adding),
        *(GroupNews("member_left", one) for one in leaving),
        *([GroupNews("leader_changed", leader)] if leader != group.leader else []),
        *([GroupNews("renamed")] if changed.name != group.name else []),
    ]
    written = (*join(group, adding, context, rows), *leave(group, leaving, context, rows))
    return record_change(request, changed, news, written, context)


def refuse_change(
    request: UpdateGroupRequest, group: ClientGroup, open_loans: Sequence[Loan], is_late: bool
) -> Refusal | None:
    """Returns why members cannot join or leave a group, or lead it."""
    adding, leaving, members = set(request.add or ()), set(request.remove or ()), set(group.client_ids)
    if adding & members:
        return ALREADY_MEMBER
    if leaving - members:
        return NO_MEMBER
    owing = next((loan.client_id for loan in open_loans if loan.client_id in leaving), None)
    if owing is not None:
        return MEMBER_OWES.fill(client_id=owing)
    if leaving and is_late:
        return GROUP_IN_ARREARS.fill(what="nobody leaves it meanwhile")
    staying = members - leaving | adding
    if len(staying) > MAX_MEMBERS:
        return TOO_MANY
    if len(staying) < MIN_MEMBERS:
        return TOO_FEW
    if request.leader is None:
        return LEADER_LEAVES if group.leader in leaving else None
    return None if request.leader in staying else LEADER_IS_NO_MEMBER


def join(group: ClientGroup, clients: Sequence[str], context: Context, rows: LoadedRows) -> tuple[Row, ...]:
    """Returns the rows of clients who become members, some of them again."""
    written: list[Row] = []
    for client_id in clients:
        key = member_key(group.merchant_id, group.group_id, client_id)
        before, client = rows.get(GroupMember, key), rows.get(Client, client_key(group.merchant_id, client_id))
        assert client is not None
        written.append(
            GroupMember(key, group.merchant_id, group.group_id, client_id, context.now)
            if before is None
            else msgspec.structs.replace(before, joined_at=context.now, left_at=None)
        )
        written.append(adjust_groups(client, 1))
    return tuple(written)


def leave(group: ClientGroup, clients: Sequence[str], context: Context, rows: LoadedRows) -> tuple[Row, ...]:
    """Returns the rows of members who leave."""
    written: list[Row] = []
    for client_id in clients:
        member = rows.get(GroupMember, member_key(group.merchant_id, group.group_id, client_id))
        client = rows.get(Client, client_key(group.merchant_id, client_id))
        assert member is not None, "every member has a row"
        assert client is not None
        written += (msgspec.structs.replace(member, left_at=context.now), adjust_groups(client, -1))
    return tuple(written)


def record_change(
    request: UpdateGroupRequest,
    group: ClientGroup,
    news: list[GroupNews],
    written: tuple[Row, ...],
    context: Context,
) -> Decision[GroupReply]:
    if request.dry_run:
        record = make_group_record(group)
        return Decision(reply=GroupReply(message=DRY_RUN_MESSAGE, data=record, dry_run=True, explained=[]))
    noted = tell_of_group(group, news, context)
    message = "Group Closed" if group.state == CLOSED else "Group Changed"
    reply = GroupReply(message=message, data=make_group_record(noted.group))
    decision = Decision(reply=reply, rows=(noted.group, *written) if news else ())  # it may be so already
    decision.add(noted.effects)
    return decision

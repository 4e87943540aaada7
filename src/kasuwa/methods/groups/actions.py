"""Rows of `PUT /loans` for groups of clients who borrow together and answer for each other."""

from kasuwa.core.action import COLLECT, MANAGE, PAY, FieldRule, Read, Write
from kasuwa.methods.groups import store, wire
from kasuwa.methods.groups.rules import collect, lend, membership, request
from kasuwa.methods.groups.wire_of_product import GroupLoanOfProductRequest
from kasuwa.methods.loans.rules import origination
from kasuwa.methods.loans.rules.agreed_charges import check_charges

LOANS = (
    Write(
        name="create_group",
        request=wire.CreateGroupRequest,
        reply=wire.GroupReply,
        rules=(FieldRule(("members",), membership.check_named_once),),
        needs=membership.need_create,
        decide=membership.decide_create,
        permission=MANAGE,
        summary="Make a group of clients who borrow together and answer for each other",
        example={
            "action": "create_group",
            "name": "Kasuwa Women",
            "members": ["<client_id>", "<member_id>"],
            "leader": "<client_id>",
        },
    ),
    Write(
        name="update_group",
        request=wire.UpdateGroupRequest,
        reply=wire.GroupReply,
        rules=(
            FieldRule(("add",), membership.check_named_once),
            FieldRule(("remove",), membership.check_named_once),
        ),
        needs=membership.need_update,
        decide=membership.decide_update,
        permission=MANAGE,
        summary="Change a group: its name, its members, its leader; or close it",
        example={"action": "update_group", "group_id": "<group_id>", "name": "Kasuwa Traders"},
    ),
    Read(
        name="view_group",
        request=wire.ViewGroupRequest,
        reply=wire.ViewGroupReply,
        read=store.view_group,
        summary="One group with its standing, its members and its loans",
        example={"action": "view_group", "group_id": "<group_id>"},
    ),
    Read(
        name="list_groups",
        request=wire.ListGroupsRequest,
        reply=wire.GroupListReply,
        read=store.list_groups,
        summary="Groups, newest first: all, or a client's, or those in a state",
        example={"action": "list_groups", "state": "active"},
    ),
    Write(
        name="request_group_loan",
        request=wire.GroupLoanRequest,
        reply=wire.GroupLoanReply,
        rules=(
            FieldRule(("loans",), request.check_parts),
            FieldRule(("period",), origination.check_period),
            FieldRule(("loans", "period"), request.check_size),
            FieldRule(("tax_applied", "tax_rate"), origination.check_tax_rate),
            FieldRule(("charges",), check_charges),
        ),
        needs=request.need_request,
        decide=request.decide_request,
        permission=MANAGE,
        summary="Request a loan for a group: one for each member who borrows, on the same terms",
        example={
            "action": "request_group_loan",
            "group_id": "<group_id>",
            "loans": [{"client_id": "<client_id>", "amount": "50000.00"}],
            "disbursement": "one",
            "interestSettings": {"interestRate": "2", "interestFrequency": "every_week"},
            "period": 12,
        },
    ),
    Write(
        name="request_group_loan",
        title="request_group_loan_of_product",
        only_with="product_id",
        request=GroupLoanOfProductRequest,
        reply=wire.GroupLoanReply,
        rules=(FieldRule(("loans",), request.check_named_once),),
        needs=request.need_request_of_product,
        decide=request.decide_request_of_product,
        permission=MANAGE,
        summary="Request a loan of a product for a group; what is left out comes from the product",
        example={
            "action": "request_group_loan",
            "group_id": "<group_id>",
            "product_id": "<product_id>",
            "loans": [{"client_id": "<client_id>", "amount": "120000.00"}],
            "disbursement": "one",
        },
    ),
    Write(
        name="process_group_loan",
        request=wire.ProcessGroupLoanRequest,
        reply=wire.GroupLoanReply,
        needs=lend.need_process,
        decide=lend.decide_process,
        permission=PAY,
        summary="Approve the loan of a group and pay it out, by one transfer or one to each; reject or cancel it",
        example={"action": "process_group_loan", "group_loan_id": "<group_loan_id>", "status": "approve"},
    ),
    Read(
        name="collection_sheet",
        request=wire.CollectionSheetRequest,
        reply=wire.CollectionSheetReply,
        read=store.show_sheet,
        summary="What each member of a group is to pay at a meeting, and what was paid on its day",
        example={"action": "collection_sheet", "group_id": "<group_id>"},
    ),
    Write(
        name="collect",
        request=wire.CollectRequest,
        reply=wire.CollectReply,
        rules=(FieldRule(("amounts",), collect.check_amounts),),
        needs=collect.need_collect,
        decide=collect.decide_collect,
        permission=COLLECT,
        summary="Record what a meeting of a group has collected: a repayment of each loan, in one request",
        example={
            "action": "collect",
            "group_id": "<group_id>",
            "amounts": [{"loan_id": "<loan_id>", "amount": "4000.00"}],
        },
    ),
)

"""The actions of `PUT /clients`: the people a merchant lends to and saves for."""

from kasuwa.core.action import INTEGRATE, MANAGE, AdminCommand, ApiMethod, RailQuestion, Read, Write
from kasuwa.methods.clients import commands, lookups, store, wire
from kasuwa.methods.clients.rules import manage_client
from kasuwa.methods.clients.rules.validate_person import CREATE_RULES, UPDATE_RULES

EXAMPLE_CLIENT = {
    "firstname": "Ada",
    "lastname": "Obi",
    "middlename": "Grace",
    "email": "ada.obi@example.com",
    "gender": "female",
    "dob": "1990-04-17",
    "phone": "08031234567",
    "bvn": "22222222222",
    "addresses": [
        {
            "line1": "12 Marina Road",
            "line2": "Flat 3",
            "city": "Lagos",
            "region": "Lagos",
            "postcode": "101241",
            "country": "NG",
        }
    ],
    "bankAccount": {"account_number": "0040000008", "bank_code": "058"},
    "meta": {"id_card_no": "A1234567"},
}

CLIENTS = ApiMethod(
    name="clients",
    scope="lend",
    selectors=("action",),
    actions=(
        Write(
            name="create",
            request=wire.CreateRequest,
            reply=wire.ClientReply,
            rules=CREATE_RULES,
            rail_question=RailQuestion("identity", "bvn", lookups.query_bvn_registry, manage_client.decide_create),
            needs=manage_client.need_create,
            decide=manage_client.decide_create,
            permission=MANAGE,
            summary="Enroll a client, and verify their BVN on request",
            example={"action": "create", "data": EXAMPLE_CLIENT, "verify_bvn": True, "status": "pending_approval"},
        ),
        Write(
            name="update",
            request=wire.UpdateRequest,
            reply=wire.ClientReply,
            rules=UPDATE_RULES,
            rail_question=RailQuestion("identity", "bvn", lookups.query_bvn_registry, manage_client.decide_update),
            needs=manage_client.need_update,
            decide=manage_client.decide_update,
            permission=MANAGE,
            summary="Change a client: objects are merged, arrays are replaced, and the status can be changed",
            example={
                "action": "update",
                "client_id": "<client_id>",
                "data": {"meta": {"phone": "08039876543", "extra": {"branch": "Ikeja"}}},
                "status": "active",
            },
        ),
        Read(
            name="list",
            request=wire.ListRequest,
            reply=wire.ListReply,
            read=store.list_clients,
            summary="All clients, newest first",
            example={"action": "list", "offset": 0, "limit": 10},
        ),
        Read(
            name="view",
            request=wire.ViewRequest,
            reply=wire.ClientReply,
            read=store.view_client,
            summary="One client",
            example={"action": "view", "client_id": "<client_id>"},
        ),
    ),
)

SANDBOX = (
    AdminCommand(
        name="client_tiers",
        request=wire.TiersRequest,
        reply=wire.TiersReply,
        run=commands.set_tiers,
        permission=INTEGRATE,
        summary="Set whether the limits by tier apply to the clients of this merchant, and with which figures",
        example={"action": "client_tiers", "is_on": True, "tiers": [{"tier": 1, "daily": "60000.00"}]},
    ),
)

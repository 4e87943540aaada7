"""Builds the HTTP server of the API process, its dispatch and its operations from the services of a process."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from kasuwa import __version__
from kasuwa.api.dispatch import Dispatch, DispatchServices
from kasuwa.api.documentation import DocumentationPages
from kasuwa.api.forwarding import RequestForwarder
from kasuwa.api.openapi.documents import BuiltOnce, build_documents
from kasuwa.api.routes import Route, make_routes
from kasuwa.api.server import Server, ServerServices
from kasuwa.boot.composition import Services, make_closer
from kasuwa.boot.documentation import build_documentation
from kasuwa.boot.played_operators import book_reversal
from kasuwa.boot.readiness import Readiness
from kasuwa.core.addresses import find_network
from kasuwa.core.decision import Merchant, find_terms
from kasuwa.http.public_limits import PublicLimits
from kasuwa.http.shared_buckets import SharedBuckets, SharedLimits
from kasuwa.http.throttle import bucket_key
from kasuwa.jobs.steps import list_rail_kinds
from kasuwa.methods.tables import ACCOUNT_JOB_KINDS, QUERY_ENDED, REJECTION_RULES, index_steps
from kasuwa.observe import log
from kasuwa.pages.checkout import CheckoutPayments, PageReads
from kasuwa.pages.hosted_checkout import TOO_MANY_REQUESTS, HostedCheckouts, HostedServices
from kasuwa.pages.invoice_pages import InvoicePages
from kasuwa.pages.render import compile_templates
from kasuwa.pages.router import CheckoutPages
from kasuwa.pages.statements import StatementPages
from kasuwa.pages.ticket_pages import TicketPages
from kasuwa.pages.transfer_receipts import TransferReceiptPages
from kasuwa.postgres.connection_pool import Pool
from kasuwa.postgres.merchant_rows import MerchantReader
from kasuwa.postgres.migrate import newest_known_version
from kasuwa.rails.inbox.callbacks import CallbackServices, RailCallbacks
from kasuwa.rails.inbox.card_messages import CardMessages
from kasuwa.rails.vendors.rejections import read_rejection
from kasuwa.sandbox.admin_operations import CommonOperations
from kasuwa.sandbox.event_maker import SendRequest
from kasuwa.sandbox.operations import SandboxOperations, SandboxServices
from kasuwa.sandbox.request_records import RequestRecorder
from kasuwa.settings.settings import Settings, loopback_allowed, parse_callback_senders, parse_trusted_proxies
from kasuwa.terms.vendors import CollectionVendors

# Forms that one network address may send on the pages of checkouts and links, in live. Many payers may share one.
# Contract: payment#checkout-page
FORMS_PER_SECOND, FORMS_BURST = 0.5, 40


def make_admin_operations(
    services: Services, operators: Pool, recorder: RequestRecorder | None = None, *, is_api: bool = True
) -> Any:
    """Returns the admin operations of a process, which answers requests of the API or is that of the console."""
    if services.settings.environment == "live":
        return CommonOperations(operators, services.clock)
    return SandboxOperations(
        operators,
        SandboxServices(
            writer=services.writer,
            stepper=services.step_runner,
            directory=services.merchant_directory,
            vault=services.vault,
            webhook_sender=services.webhook_sender,
            closer=make_closer(services.settings, services.dsn, services.clock),
            are_others_serving=not is_api or services.settings.workers > 1 or bool(services.settings.peer_listen),
            requests=recorder,
        ),
        seed=services.deployment.seed,
        loopback_allowed=loopback_allowed(services.settings),
        advance_seconds=services.settings.sandbox_advance_seconds,
    )


def make_request_log(settings: Settings) -> log.RequestLog:
    return log.RequestLog(1 if settings.request_log == "stdout" else None)


def make_callbacks(services: Services, operators: Pool) -> RailCallbacks:
    used = CallbackServices(
        operators=operators,
        writer=services.writer,
        directory=services.merchant_directory,
        rails=services.rails,
        rail_job_kinds=list_rail_kinds(index_steps(services.methods).values()),
        query_ended=QUERY_ENDED,
        account_job_kinds=ACCOUNT_JOB_KINDS,
        read_rejection=read_rejection,
        rejection_rules=REJECTION_RULES,
    )
    choice, senders = services.rail_choice, parse_callback_senders(services.settings)
    announced = choice.card_messages()
    cards = None if announced is None else CardMessages(operators, services.rails.issuer, announced)
    return RailCallbacks(used, choice.callback_sources(), choice.callback_hints(), senders, cards)


def make_page_throttle(settings: Settings, buckets: SharedBuckets) -> Callable[[str], float] | None:
    """Returns the limit of forms that one network may send on payers' pages. The test environment has none."""
    if settings.environment == "test":
        return None
    return lambda address: buckets.take(bucket_key("page", find_network(address)), FORMS_PER_SECOND, FORMS_BURST)


def make_server(
    services: Services,
    dispatch: Dispatch,
    callbacks: RailCallbacks,
    forwarder: RequestForwarder | None,
    limits: SharedLimits | None = None,
    recorder: RequestRecorder | None = None,
) -> Server:
    request_log = make_request_log(services.settings)
    writes = forwarder or dispatch
    buckets = SharedBuckets() if limits is None else limits.pages
    # Pages use the merchant's share of the connections, as its reads do.
    reads = PageReads(services.reader, partial(MerchantReader, services.lists, shares=services.readers.shares))
    checkout = CheckoutPayments(
        reads, services.vault, services.merchant_directory, writes, services.deployment.public_url
    )
    hosted = HostedServices(
        reads=reads,
        vault=services.vault,
        merchants=services.merchant_directory,
        writes=writes,
        public_url=services.deployment.public_url,
        vendors=find_terms(services.deployment.terms, CollectionVendors),
        take=make_page_throttle(services.settings, buckets),
    )
    kinds = (InvoicePages(hosted), TicketPages(hosted), TransferReceiptPages(hosted), HostedCheckouts(hosted))
    pages = CheckoutPages(checkout, *kinds, prepare=BuiltOnce(compile_templates).read)
    proxies = parse_trusted_proxies(services.settings)
    parts = ServerServices(
        routes=make_routes(services.methods),
        dispatch=dispatch,
        documents=BuiltOnce(partial(build_documents, services.methods, services.settings.environment)),
        documentation=DocumentationPages(BuiltOnce(build_documentation)),
        check_readiness=Readiness(services),
        request_log=request_log,
        pages=pages,
        files=StatementPages(
            services.lists, services.vault, services.merchant_directory, services.deployment.public_url
        ),
        callbacks=callbacks,
        public_limits=PublicLimits(buckets, TOO_MANY_REQUESTS),
        metrics=services.metrics,
        proxies=proxies,
        forwarder=forwarder,
        record_request=None if recorder is None else recorder.add,
        public_url=services.deployment.public_url,
        details=describe_deployment(services.settings),
    )
    return Server(parts)


def describe_deployment(settings: Settings) -> dict[str, str | int]:
    """Returns what /readyz tells anybody about the deployment. In live that is nothing."""
    if settings.environment == "live":
        return {}
    return {"environment": settings.environment, "version": __version__, "schema": newest_known_version()}


def make_dispatch(services: Services, operations: Any, limits: SharedLimits | None = None) -> Dispatch:
    parts = DispatchServices(
        directory=services.merchant_directory,
        writer=services.writer,
        reader=services.readers,
        steps=services.step_runner,
        rails=services.rails,
        admin_operations=operations,
        vault=services.vault,
        environment=services.settings.environment,
        limits=limits,
    )
    dispatch = Dispatch(parts)
    if isinstance(operations, SandboxOperations):
        operations.send_by(make_sender(dispatch, make_routes(services.methods)))
        operations.book_reversals_by(partial(book_reversal, services.writer))
    return dispatch


def make_sender(dispatch: Dispatch, routes: Mapping[str, Route]) -> SendRequest:
    """Returns what answers a request of a merchant in this process, without the network."""

    async def send(merchant: Merchant, path: str, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        answered = await dispatch.handle_on_behalf(routes[f"/{path}"], merchant, {}, msgspec.json.encode(fields))
        reply: Mapping[str, Any] = msgspec.json.decode(answered.body)
        return reply

    return send

"""What the processes of a deployment share, and the connections between them."""

from collections.abc import Sequence

import msgspec

from kasuwa.api_methods import PAYER_ACTIONS
from kasuwa.composition import Services
from kasuwa.observe.metrics import Metrics, SharedCounters
from kasuwa.owners.links import OwnerLinks
from kasuwa.owners.listener import OwnerListener
from kasuwa.owners.sockets import OwnerSockets
from kasuwa.web.dispatch import Dispatch
from kasuwa.web.forwarding import RequestInbox
from kasuwa.web.routes import make_routes
from kasuwa.web.shared_buckets import SharedLimits
from kasuwa.work.forwarded_jobs import JobInbox


class SharedResources(msgspec.Struct, frozen=True):
    """Resources that the processes of a deployment share. Made by the supervisor before it starts the first of them."""

    counters: Sequence[SharedCounters] = ()  # the metrics of all processes
    sockets: OwnerSockets | None = None  # of the API processes, if there are several
    limits: SharedLimits | None = None  # if there are several API processes


class Owner(msgspec.Struct):
    """The connections of an API process that owns merchants."""

    links: OwnerLinks  # to the other API processes
    listener: OwnerListener  # for all other processes


async def start_owner(services: Services, dispatch: Dispatch, shared: SharedResources) -> Owner | None:
    """Makes this process an owner of merchants. Returns None if it is the only API process."""
    links = start_links(services.metrics, shared)
    if links is None or shared.sockets is None:
        return None
    requests = RequestInbox(dispatch, make_routes(services.methods), services.merchant_directory, PAYER_ACTIONS)
    jobs = JobInbox(services.step_runner, services.writer)
    number = shared.sockets.number_of(services.metrics.process_name)
    assert number is not None, "an API process has a number"
    listener = OwnerListener(shared.sockets.paths[number], {**requests.handlers, **jobs.handlers})
    await listener.start()
    return Owner(links, listener)


def start_links(metrics: Metrics, shared: SharedResources) -> OwnerLinks | None:
    """Connects this process to the owners. Returns None if there is only one API process."""
    sockets = shared.sockets
    if sockets is None:
        return None
    links = OwnerLinks(sockets.paths, sockets.number_of(metrics.process_name), metrics)
    links.start()
    return links

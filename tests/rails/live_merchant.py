"""A merchant of a live deployment, with money in its wallet."""

from kasuwa.boot.composition import Services
from kasuwa.sandbox.operations import fund_new_merchant
from kasuwa.settings.settings import read_settings
from tests.merchant_client import MerchantClient
from tests.running import Deployment, run_apart


def add_merchant(deployment: Deployment) -> tuple[MerchantClient, int]:
    """Adds a merchant by the command. Returns its client and its number."""
    lines = deployment.run_command("merchant", "add", "Ada Stores").splitlines()
    mid, key, _ = (line.split()[1] for line in lines)
    [(merchant_id,)] = deployment.fetch("select merchant_id from merchant where mid = $1", mid)
    return MerchantClient(deployment.connect(), mid, key), merchant_id


def fund(deployment: Deployment, settings: dict[str, str], merchant_id: int) -> None:
    """Posts opening balances. Live has no command for it: money comes in by rails, or by two operators."""

    async def run() -> None:
        services = await Services.build(read_settings(settings), deployment.dsn)
        services.writer.start()
        try:
            await fund_new_merchant(services.writer, await services.merchant_directory.get_by_id(merchant_id))
        finally:
            await services.close()

    run_apart(run())

"""Every check of an integration, in the order in which they run: those that read all the traffic come last."""

from kasuwa.integration.order_checks import ORDER_CHECKS
from kasuwa.integration.receiver_checks import RECEIVER_CHECKS
from kasuwa.integration.traffic_checks import TRAFFIC_CHECKS

ALL_CHECKS = (*RECEIVER_CHECKS, *ORDER_CHECKS, *TRAFFIC_CHECKS)

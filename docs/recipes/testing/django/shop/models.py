"""Orders of the shop."""

from django.db import models


class Order(models.Model):
    """An order. Its reference is sent as customer_txnref and comes back in the event of its payment."""

    reference = models.CharField(max_length=40, unique=True)
    amount = models.DecimalField(max_digits=15, decimal_places=2)
    account_number = models.CharField(max_length=10)
    state = models.CharField(max_length=10, default="open")  # open, paid or refused

    class Meta:
        app_label = "shop"

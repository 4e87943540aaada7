"""Kasuwa: payments, cards, bills, loans and savings behind one API."""

__version__ = "1.0.0"

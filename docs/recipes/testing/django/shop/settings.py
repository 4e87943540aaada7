"""Settings of the shop. The credentials of Kasuwa come from the environment."""

import os

SECRET_KEY = os.environ.get("DJANGO_SECRET_KEY", "for-development-only")
DEBUG = False
ALLOWED_HOSTS = ["*"]
INSTALLED_APPS = ["shop"]
MIDDLEWARE: list[str] = []
ROOT_URLCONF = "shop.urls"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "shop.sqlite3"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True

KASUWA_URL = os.environ.get("KASUWA_URL", "http://127.0.0.1:8080")
KASUWA_MID = os.environ.get("KASUWA_MID", "")
KASUWA_KEY = os.environ.get("KASUWA_KEY", "")

"""Creates the table of orders. Written by `manage.py makemigrations`."""

from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies: list[tuple[str, str]] = []

    operations = [
        migrations.CreateModel(
            name="Order",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reference", models.CharField(max_length=40, unique=True)),
                ("amount", models.DecimalField(decimal_places=2, max_digits=15)),
                ("account_number", models.CharField(max_length=10)),
                ("state", models.CharField(default="open", max_length=10)),
            ],
        ),
    ]

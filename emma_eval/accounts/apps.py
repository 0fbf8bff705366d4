from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "emma_eval.accounts"
    label = "accounts"

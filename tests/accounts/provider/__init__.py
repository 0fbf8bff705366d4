"""A real OpenID Connect provider, django-oauth-toolkit, as small as a site can be: for the tests of sign-on."""

PASSWORD = "open-sesame"
CLIENT_ID, CLIENT_SECRET = "emma-eval", "a-secret-of-the-tests"

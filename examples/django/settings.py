"""What two routes need of Django: no session, no middleware, a database for the ORM."""
import os

ROOT_URLCONF = "urls"
ALLOWED_HOSTS = ["127.0.0.1"]
SECRET_KEY = os.environ["DJANGO_SECRET_KEY"]
DATA_UPLOAD_MAX_MEMORY_SIZE = 512 << 10
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "shop.db"}}

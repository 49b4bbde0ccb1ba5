from django.urls import path

import views

urlpatterns = [
    path("v1/purchases", views.purchases),
    path("v1/notifications", views.notifications),
]

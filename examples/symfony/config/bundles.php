<?php

use Symfony\Bundle\FrameworkBundle\FrameworkBundle;

return [FrameworkBundle::class => ['all' => true]];

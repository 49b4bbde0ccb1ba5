<?php

// Serves Apple's endpoint for SenderTest: each request gets the next line of the script in the
// folder SCRIPT, and is written beside it.

declare(strict_types=1);

$folder = (string) getenv('SCRIPT');
$number = count((array) glob("$folder/seen-*"));
$seen = [
    'method' => $_SERVER['REQUEST_METHOD'],
    'own' => $_SERVER['HTTP_X_OWN'] ?? '',
    'host' => $_SERVER['HTTP_HOST'],
    'path' => $_SERVER['REQUEST_URI'],
    'type' => $_SERVER['CONTENT_TYPE'] ?? '',
    'body' => base64_encode((string) file_get_contents('php://input')),
];
file_put_contents(sprintf('%s/seen-%03d', $folder, $number), json_encode($seen));
$script = json_decode((string) file_get_contents("$folder/script"), true);
[$status, $headers, $body] = $script[$number];
http_response_code($status);
header('Content-Type: application/json');
foreach ($headers as $name => $value) {
    header("$name: $value");
}
echo base64_decode($body);

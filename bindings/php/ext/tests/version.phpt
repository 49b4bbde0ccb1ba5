--TEST--
The library behind the extension says which one it is
--EXTENSIONS--
assay
--FILE--
<?php
use Assay\Extension as C;

var_dump(preg_match('/^\d+\.\d+\.\d+$/', C\version()));
var_dump(C\version_number() >= 100);
var_dump(version_compare(C\version(), phpversion('assay'), '>='));
var_dump(json_decode(C\build_info(), true)['abi']);
var_dump(basename(C\library_path()));
var_dump(C\status_name(0), C\status_name(6), C\status_name(PHP_INT_MAX & 0x7fffffff));
?>
--EXPECTF--
int(1)
bool(true)
bool(true)
int(0)
string(13) "libassay.so.0"
string(2) "ok"
string(%d) "%s"
string(%d) "%s"

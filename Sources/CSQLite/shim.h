// SQLite: the stores of Swift hosts that have no server.
#include <sqlite3.h>

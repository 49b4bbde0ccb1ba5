// SQLite, in which the tests of stores carry their statements out.
#include <sqlite3.h>

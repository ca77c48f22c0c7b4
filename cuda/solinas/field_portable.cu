// The field without inline PTX: see field.h.
#define GL_PORTABLE
#include "solinas/field.h"

FIELD(field_functions_portable)

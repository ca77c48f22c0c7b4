// The field without inline PTX: see field.h.
#define GL_PORTABLE
#include "solinas/field.h"

FIELD(solinas_field_functions_portable)

// The field with inline PTX: see field.h.
#include "solinas/field.h"

FIELD(solinas_field_functions)

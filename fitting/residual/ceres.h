/// Ceres' headers without glog's CHECK macros, which would take the place of ours
/// (database/base/check.h).
#pragma once

#pragma push_macro("CHECK")
#pragma push_macro("CHECK_EQ")
#pragma push_macro("CHECK_NE")
#pragma push_macro("CHECK_LT")
#pragma push_macro("CHECK_LE")
#pragma push_macro("CHECK_GT")
#pragma push_macro("CHECK_GE")
#undef CHECK
#undef CHECK_EQ
#undef CHECK_NE
#undef CHECK_LT
#undef CHECK_LE
#undef CHECK_GT
#undef CHECK_GE

#include <ceres/ceres.h>

#pragma pop_macro("CHECK")
#pragma pop_macro("CHECK_EQ")
#pragma pop_macro("CHECK_NE")
#pragma pop_macro("CHECK_LT")
#pragma pop_macro("CHECK_LE")
#pragma pop_macro("CHECK_GT")
#pragma pop_macro("CHECK_GE")

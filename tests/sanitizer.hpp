// Whether a sanitizer watches this program, which makes everything several times slower.
#pragma once

namespace cosmic {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kUnderSanitizer = true;
#else
inline constexpr bool kUnderSanitizer = false;
#endif

}  // namespace cosmic

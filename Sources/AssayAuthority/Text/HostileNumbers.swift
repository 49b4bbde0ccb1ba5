/// Numbers at and beyond the limits of the types that programs use: integers of 8 to 64 bits,
/// doubles and the integers that they represent exactly, dates. Tests put each in place of every
/// number that the library reads.
public enum HostileNumbers {
  /// The numbers in JSON, some in unusual spellings.
  public static let json: [String] =
    integers.map { "\($0)" } + [
      "9223372036854775808", "-9223372036854775809", "18446744073709551615",
      "18446744073709551616", "-18446744073709551616",
      "123456789012345678901234567890123456789012345678901234567890",
      "-0", "-0.0", "0.0", "0e0", "0e999999999", "0.5", "-0.5", "1.0", "1.5", "1e0", "1E2", "1e+2",
      "10e-1", "1e-1", "1e15", "1e18", "1e19", "1e30", "-1e30", "1e308", "-1e308",
      "1.7976931348623157e308", "1.7976931348623159e308", "1e309", "1e400", "-1E400",
      "1e999999999", "1e-999999999", "1e9223372036854775807", "1e-9223372036854775808",
      "1e-400", "5e-324", "4.9e-325", "2147483647.5", "9007199254740991.5",
      "9007199254740993.0", "9223372036854775807.9", "9223372036854775808.0",
      "0.0000000000000000001e19",
    ]

  /// Texts that programs write in place of a number and that are not JSON.
  public static let notJSON = [
    "NaN", "nan", "Infinity", "-Infinity", "inf", "+1", "01", "-01", "1.", ".5", "-", "--1", "1e",
    "1e+", "1_0", "0x10", "1,0", "\u{661}",
  ]

  public static let integers: [Int64] = [
    0, 1, -1, 2, 100, 127, 128, -128, -129, 255, 256, 32767, 32768, 65535, 65536,
    2_147_483_646, 2_147_483_647, 2_147_483_648, -2_147_483_647, -2_147_483_648, -2_147_483_649,
    4_294_967_295, 4_294_967_296,
    // 2^53, up to which a double represents every integer.
    9_007_199_254_740_990, 9_007_199_254_740_991, 9_007_199_254_740_992, 9_007_199_254_740_993,
    -9_007_199_254_740_991, -9_007_199_254_740_992, -9_007_199_254_740_993,
    .max - 1, .max, .min + 1, .min,
    // Dates in milliseconds of the years 1, 2008, 2100 and 10000, and dates in seconds.
    -62_135_596_800_000, -62_135_596_800_001, 1_199_145_599_999, 1_199_145_600_000,
    4_102_444_800_000, 4_102_444_800_001, 253_402_300_799_999, 253_402_300_800_000,
    1_795_219_200, 253_402_300_800,
    // The limits at which adding milliseconds or multiplying by 1,000 overflows.
    .max / 1000, .max / 1000 + 1, .min / 1000, .min / 1000 - 1, .max - 86_400_000,
  ]
}

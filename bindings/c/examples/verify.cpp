/*
 * verify.cpp - verify one signed transaction and decide the plan, in C++17.
 *
 *   verify-cpp CONFIG.json [JWS-FILE] [--at MILLISECONDS]
 *
 * Without a file the JWS is read from standard input. Exit code 0: verified.
 * 1: refused, with the reason. 2: incorrect usage.
 *
 *   c++ -std=c++17 verify.cpp -o verify-cpp $(pkg-config --cflags --libs assay)
 */
#include <assay.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

// Returns all bytes of a stream, without the line end that an editor adds.
static std::string read(std::istream &stream) {
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  text.erase(text.find_last_not_of("\r\n") + 1);
  return text;
}

static std::string read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  file.exceptions(std::ios::failbit | std::ios::badbit);
  return read(file);
}

// Prints a refusal. The hint is for the operator, never for the client.
static void print(const assay::Error &refusal) {
  const assay::Document &document = refusal.document();
  std::cout << "refused:  " << refusal.name() << "\n"
            << "  because " << document.text("error.message").value_or("") << "\n"
            << "  hint    " << document.text("error.hint").value_or("") << "\n"
            << "  HTTP    " << assay::http(refusal.status()) << "\n"
            << "  retry   " << assay::retry(refusal.status()) << "\n";
}

static int verify(const assay::Verifier &verifier, std::string_view jws, std::int64_t now) {
  const assay::Document transaction =
      verifier.verify_jws(ASSAY_JWS_TRANSACTION, jws, now).require();
  std::cout << "verified: transaction\n"
            << "  product " << transaction.text("transaction.productId").value_or("-") << "\n";
  if (const auto expires = transaction.integer("transaction.expiresDate"))
    std::cout << "  expires " << *expires << "\n";
  // No plan in force is a refusal, whose document has the decision too.
  const assay::Document decision = verifier.decide(transaction, std::nullopt, now);
  std::cout << "  plan    " << decision.text("decision.plan").value_or("-") << "\n";
  return 0;
}

int main(int argc, char **argv) {
  std::string path;
  std::int64_t now = assay::now_ms();
  for (int i = 2; i < argc; i++) {
    if (std::string_view(argv[i]) == "--at" && i + 1 < argc)
      now = std::strtoll(argv[++i], nullptr, 10);
    else
      path = argv[i];
  }
  if (argc < 2) {
    std::cerr << "usage: verify-cpp CONFIG.json [JWS-FILE] [--at MILLISECONDS]\n";
    return 2;
  }
  try {
    const assay::Verifier verifier(read_file(argv[1]));
    const std::string jws = path.empty() ? read(std::cin) : read_file(path);
    return verify(verifier, jws, now);
  } catch (const assay::Error &refusal) {
    print(refusal);
    return assay::family(refusal.status()) == ASSAY_CONFIG ? 2 : 1;
  } catch (const std::ios::failure &) {
    std::cerr << "verify-cpp: a file cannot be read\n";
    return 2;
  }
}

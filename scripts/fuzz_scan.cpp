// Drives the scanner of traceview/kineto/_scan.cpp with mutated pieces of traces; see fuzz_scan.py.
//
//     fuzz_scan KEYS CORPUS SECONDS SEED
//
// KEYS has a line `column key` for each argument. CORPUS has pieces, each behind its length in four
// bytes. Each input lies in a block of exactly its size, so that the sanitizers see every byte read
// beside it. Written out is how many inputs were scanned and how many entries were taken.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

struct traceview_scanner;
extern "C" {
traceview_scanner* traceview_scanner_new(const char* const*, const int32_t*, int32_t,
                                         const uint8_t*, int32_t, int32_t);
void traceview_scanner_free(traceview_scanner*);
int32_t traceview_scan(traceview_scanner*, const char*, uint64_t, uint64_t*);
int64_t traceview_reserve(traceview_scanner*);
uint64_t traceview_rows(const traceview_scanner*);
void traceview_take_dense(traceview_scanner*, int32_t, int32_t*);
void traceview_take_times(traceview_scanner*, int32_t, int64_t*, uint8_t*);
uint64_t traceview_sparse_size(const traceview_scanner*, int32_t);
void traceview_take_integers(traceview_scanner*, int32_t, int64_t*, int64_t*);
void traceview_take_texts(traceview_scanner*, int32_t, int64_t*, int32_t*);
uint64_t traceview_dictionary(const traceview_scanner*, int32_t, const char**, const uint64_t**);
}

namespace {

constexpr int kDense = 5, kClocks = 2, kClosed = 1, kOdd = 2;
using Random = std::mt19937_64;

struct Keys {
  std::vector<std::string> names;
  std::vector<const char*> pointers;
  std::vector<int32_t> columns;
  std::vector<uint8_t> is_unsigned;
  int32_t integers = 0, texts = 0;
};

Keys read_keys(const char* path) {
  Keys keys;
  std::ifstream file(path);
  file >> keys.integers >> keys.texts;
  int32_t column;
  while (file >> column) {
    std::string name;
    file.get();
    std::getline(file, name);
    keys.columns.push_back(column);
    keys.names.push_back(name);
  }
  for (const auto& name : keys.names) keys.pointers.push_back(name.c_str());
  keys.is_unsigned.assign(static_cast<size_t>(keys.integers), 0);
  for (size_t i = 0; i < keys.is_unsigned.size(); i += 2) keys.is_unsigned[i] = 1;
  return keys;
}

std::vector<std::string> read_corpus(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::string> pieces;
  for (size_t at = 0; at + 4 <= all.size();) {
    uint32_t length;
    std::memcpy(&length, all.data() + at, 4);
    pieces.push_back(all.substr(at + 4, length));
    at += 4 + length;
  }
  return pieces;
}

size_t below(Random& random, size_t limit) { return limit ? random() % limit : 0; }

std::string mutated(const std::vector<std::string>& corpus, Random& random) {
  static const char* const kTokens[] = {
      "\"", "\\", "\\u", "\\ud83d\\ude00", "\\udc00", "{", "}", "[", "]", ",", ":", "-", ".", "e",
      "0", "9999999999999999999", "18446744073709551615", "-9223372036854775808", "1e400", "null",
      "true", "NaN", "\"ts\":", "\"dur\":\"1.5\"", "\"args\":{", "\"stream\":", "\"Addr\":",
      "\"id\":", "\xff", "\xc3\xa9", "\xf0\x9f\x98\x80", "\xed\xa0\x80", "\n", "},{", "[[[[[[[["};
  std::string text = corpus[below(random, corpus.size())];
  for (size_t changes = below(random, 6); changes > 0; --changes) {
    const size_t at = below(random, text.size() + 1);
    switch (random() % 6) {
      case 0: if (at < text.size()) text[at] = static_cast<char>(random()); break;
      case 1: text.insert(at, kTokens[below(random, std::size(kTokens))]); break;
      case 2: text.erase(at, below(random, 16)); break;
      case 3: text.resize(at); break;
      case 4: text.insert(at, 1, static_cast<char>(random() % 128)); break;
      default: {
        const std::string& other = corpus[below(random, corpus.size())];
        text.insert(at, other.substr(below(random, other.size()), below(random, 64)));
      }
    }
  }
  return text;
}

// Scans `text` as a stream of windows: what a window leaves over begins the next one.
void scan(traceview_scanner* scanner, const std::string& text, size_t window) {
  size_t begin = 0, end = window < text.size() ? window : text.size();
  for (;;) {
    const size_t length = end - begin;
    auto* block = static_cast<char*>(std::malloc(length + 1));
    std::memcpy(block, text.data() + begin, length);
    block[length] = '\0';
    uint64_t position = 0;
    int32_t stop = traceview_scan(scanner, block, length, &position);
    if (position > length) std::abort();
    while (stop == kOdd || stop == kClosed) {
      if (stop == kOdd) {
        if (traceview_reserve(scanner) < 0) std::abort();
        ++position;
      }
      if (position > length) break;
      stop = traceview_scan(scanner, block, length, &position);
      if (position > length) std::abort();
    }
    std::free(block);
    if (end == text.size()) return;
    begin += position < length ? position : length;
    end = end + window < text.size() ? end + window : text.size();
  }
}

// Takes all columns out and checks that each code has its text.
void take(traceview_scanner* scanner, const Keys& keys) {
  const size_t rows = traceview_rows(scanner);
  std::vector<int32_t> codes(rows);
  std::vector<int64_t> times(rows);
  std::vector<uint8_t> known(rows);
  const char* text;
  const uint64_t* ends;
  for (int32_t field = 0; field < kDense; ++field) {
    traceview_take_dense(scanner, field, codes.data());
    const auto count = static_cast<int64_t>(traceview_dictionary(scanner, field, &text, &ends));
    for (int32_t code : codes) {
      if (code < -1 || code >= count) std::abort();
    }
  }
  for (int32_t clock = 0; clock < kClocks; ++clock) {
    traceview_take_times(scanner, clock, times.data(), known.data());
  }
  for (int32_t column = 0; column <= keys.integers + keys.texts; ++column) {
    const size_t size = traceview_sparse_size(scanner, column);
    std::vector<int64_t> places(size), numbers(size);
    std::vector<int32_t> found(size);
    if (column < keys.integers) {
      traceview_take_integers(scanner, column, places.data(), numbers.data());
    } else {
      traceview_take_texts(scanner, column, places.data(), found.data());
      const auto count =
          static_cast<int64_t>(traceview_dictionary(scanner, kDense + column, &text, &ends));
      for (int32_t code : found) {
        if (code < 0 || code >= count) std::abort();
      }
    }
    for (size_t i = 0; i < size; ++i) {
      if (places[i] < 0 || places[i] >= static_cast<int64_t>(rows)) std::abort();
      if (i && places[i] <= places[i - 1]) std::abort();
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) return 2;
  const Keys keys = read_keys(arguments[1]);
  const auto corpus = read_corpus(arguments[2]);
  const auto seconds = std::chrono::seconds(std::atoi(arguments[3]));
  Random random(static_cast<uint64_t>(std::atoll(arguments[4])));
  const auto start = std::chrono::steady_clock::now();
  uint64_t inputs = 0, entries = 0;
  while (std::chrono::steady_clock::now() - start < seconds) {
    traceview_scanner* scanner = traceview_scanner_new(
        keys.pointers.data(), keys.columns.data(), static_cast<int32_t>(keys.columns.size()),
        keys.is_unsigned.data(), keys.integers, keys.texts);
    if (!scanner) return 3;
    for (int i = 0; i < 64; ++i, ++inputs) {
      const std::string text = mutated(corpus, random);
      scan(scanner, text, 1 + below(random, text.size() + 64));
    }
    entries += traceview_rows(scanner);
    take(scanner, keys);
    traceview_scanner_free(scanner);
  }
  std::printf("%llu inputs, %llu entries\n", static_cast<unsigned long long>(inputs),
              static_cast<unsigned long long>(entries));
  return 0;
}

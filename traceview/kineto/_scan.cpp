// One pass over the entries of traceEvents, into typed columns.
//
// A strict reader of JSON: an entry that is not a well-formed object whose values have the common
// types is not taken; the scan stops at its first byte and the caller reads it. The Python twin is
// decode.py, the meaning of an entry is defined by values.py, and the three are held equal.
//
// The C functions at the end are the whole interface. A text is given as `length` bytes that are
// followed by one NUL byte (as in a Python bytes object); nothing outside these is ever read. No
// exception leaves them: a lack of memory is the return value kNoMemory.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace {

enum Stop : int32_t { kMore = 0, kClosed = 1, kOdd = 2, kNoMemory = -1 };

// How reading one value or entry ended. kCut: the text ran out inside it.
enum class Result { kOk, kCut, kOdd };

constexpr int kMaxDepth = 64;       // of lists and objects within one value
constexpr int kSafeDigits = 18;     // that many decimal digits always fit an int64
constexpr int64_t kMostMicroseconds = INT64_MAX / 1000 - 1;
constexpr uint64_t kOnes = 0x0101010101010101ULL;
constexpr uint64_t kHighs = 0x8080808080808080ULL;

// ---------------------------------------------------------------------------------------------
// Storage

// A growing array that never moves what it holds, so that it needs no second copy to grow.
template <typename T>
class Chunked {
 public:
  void push(T value) {
    if (next_ == limit_) grow();
    *next_++ = value;
  }
  void pop() {
    if (next_ == start()) drop_chunk();
    --next_;
  }
  size_t size() const { return chunks_.size() * kChunk - static_cast<size_t>(limit_ - next_); }
  T last() const { return next_ == start() ? chunks_.end()[-2][kChunk - 1] : next_[-1]; }

  // Copies all values out and gives the memory back on the way.
  template <typename Out>
  void take(Out* out) {
    size_t left = size();
    for (auto& chunk : chunks_) {
      const size_t count = left < kChunk ? left : kChunk;
      for (size_t i = 0; i < count; ++i) out[i] = static_cast<Out>(chunk[i]);
      out += count;
      left -= count;
      chunk.reset();
    }
    chunks_.clear();
    next_ = limit_ = nullptr;
  }

 private:
  T* start() const { return limit_ - kChunk; }
  void grow() {
    chunks_.push_back(std::unique_ptr<T[]>(new T[kChunk]));  // make_unique would clear it
    next_ = chunks_.back().get();
    limit_ = next_ + kChunk;
  }
  void drop_chunk() {
    chunks_.pop_back();
    next_ = limit_ = chunks_.back().get() + kChunk;
  }

  static constexpr size_t kChunk = 1 << 14;
  std::vector<std::unique_ptr<T[]>> chunks_;
  T* next_ = nullptr;   // where the next value goes, up to `limit_`
  T* limit_ = nullptr;
};

uint64_t load8(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
constexpr bool kLittleEndian = true;
// The place of the first byte whose highest bit is set in a word that was loaded from memory.
int first_marked(uint64_t marks) { return __builtin_ctzll(marks) >> 3; }
#else
constexpr bool kLittleEndian = false;
int first_marked(uint64_t) { return 0; }
#endif

// Texts are short, so that a call of memcmp would cost more than the comparison.
bool equal(const char* a, const char* b, size_t length) {
  if (length >= 8) {
    const char* const last = a + length - 8;
    if (load8(last) != load8(b + length - 8)) return false;
    for (; a < last; a += 8, b += 8) {
      if (load8(a) != load8(b)) return false;
    }
    return true;
  }
  for (size_t i = 0; i < length; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ b) * 0x9E3779B97F4A7C15ULL;
  return x ^ (x >> 29);
}

// The last bytes of a text that are left over by whole words; together with its length they tell
// short texts apart, and none is read outside the text.
uint64_t last_bytes(const char* text, const char* end) {
  const auto length = static_cast<size_t>(end - text);
  if (length >= 8) return load8(end - 8);
  if (length >= 4) {
    uint32_t first, last;
    std::memcpy(&first, text, 4);
    std::memcpy(&last, end - 4, 4);
    return first | static_cast<uint64_t>(last) << 32;
  }
  if (length == 0) return 0;
  const auto byte = [text](size_t at) {
    return static_cast<uint64_t>(static_cast<unsigned char>(text[at]));
  };
  return byte(0) | byte(length / 2) << 8 | byte(length - 1) << 16;
}

uint64_t hash_of(const char* text, size_t length) {
  const char* end = text + length;
  uint64_t hash = mix(length, last_bytes(text, end));
  for (; end - text > 8; text += 8) hash = mix(hash, load8(text));
  return hash ^ (hash >> 32);
}

// The distinct texts of one column, each with a code in order of first use.
class Dictionary {
 public:
  int32_t code_of(const char* text, size_t length) {
    // Neighbours are often equal: the process, the thread, the category.
    if (is(last_, text, length)) return last_;
    const uint64_t hash = hash_of(text, length);
    size_t slot = hash & mask_;
    for (; slots_[slot] >= 0; slot = (slot + 1) & mask_) {
      if (hashes_[slots_[slot]] == hash && is(slots_[slot], text, length)) {
        return last_ = slots_[slot];
      }
    }
    const auto code = static_cast<int32_t>(hashes_.size());
    bytes_.insert(bytes_.end(), text, text + length);
    ends_.push_back(bytes_.size());
    hashes_.push_back(hash);
    slots_[slot] = code;
    if (hashes_.size() * 2 > slots_.size()) grow();
    return last_ = code;
  }

  size_t count() const { return hashes_.size(); }
  size_t bytes() const { return bytes_.size(); }
  const char* text() const { return bytes_.data(); }
  const uint64_t* ends() const { return ends_.data(); }

 private:
  bool is(int32_t code, const char* text, size_t length) const {
    if (code < 0) return false;
    const uint64_t begin = code ? ends_[code - 1] : 0;
    return ends_[code] - begin == length && equal(bytes_.data() + begin, text, length);
  }

  void grow() {
    std::vector<int32_t> slots(slots_.size() * 2, -1);
    const size_t mask = slots.size() - 1;
    for (size_t code = 0; code < hashes_.size(); ++code) {
      size_t slot = hashes_[code] & mask;
      while (slots[slot] >= 0) slot = (slot + 1) & mask;
      slots[slot] = static_cast<int32_t>(code);
    }
    slots_.swap(slots);
    mask_ = mask;
  }

  std::vector<char> bytes_;
  std::vector<uint64_t> ends_;
  std::vector<uint64_t> hashes_;
  std::vector<int32_t> slots_ = std::vector<int32_t>(64, -1);
  size_t mask_ = 63;
  int32_t last_ = -1;
};

// An argument that only some entries have.
struct Sparse {
  Chunked<uint32_t> rows;
  Chunked<int64_t> numbers;  // bits of a uint64 where the argument is unsigned
  Chunked<int32_t> codes;
  Dictionary texts;
  int64_t seen = -1;  // the row that had a key for this argument last
  bool is_text = false;
  bool is_unsigned = false;

  void forget(uint32_t row) {
    if (rows.size() == 0 || rows.last() != row) return;
    rows.pop();
    is_text ? codes.pop() : numbers.pop();
  }
};

struct Dense {
  Chunked<int32_t> codes;
  Dictionary texts;
};

struct Times {
  Chunked<int64_t> nanoseconds;
  Chunked<uint8_t> known;
};

// ---------------------------------------------------------------------------------------------
// JSON

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// The text between the quotes of a string, escapes as they stand.
struct String {
  const char* begin = nullptr;
  const char* end = nullptr;
  bool escaped = false;
  size_t length() const { return static_cast<size_t>(end - begin); }
};

struct Number {
  const char* begin = nullptr;
  const char* point = nullptr;  // end of the whole part
  const char* end = nullptr;    // set only when a number was read
  bool is_integer = false;
  bool has_exponent = false;
};

// A position in a text. Each method reads one thing and goes behind it, or tells why it cannot.
class Cursor {
 public:
  Cursor(const char* at, const char* end) : at_(at), end_(end) {}

  const char* at() const { return at_; }
  char peek() const { return *at_; }  // NUL at the end of the text
  void advance() { ++at_; }
  Result failed() const { return at_ >= end_ ? Result::kCut : Result::kOdd; }

  void space() {
    while (static_cast<unsigned char>(*at_) <= ' ') {
      if (*at_ == ' ') {
        blanks();
      } else if (*at_ == '\n' || *at_ == '\r' || *at_ == '\t') {
        ++at_;
      } else {
        return;
      }
    }
  }

  bool take(char wanted) {
    if (*at_ != wanted) return false;
    ++at_;
    return true;
  }

  Result string(String* out) {
    if (!take('"')) return failed();
    out->begin = at_;
    out->escaped = false;
    for (;;) {
      plain_characters();
      const auto c = static_cast<unsigned char>(*at_);
      if (c == '"') {
        out->end = at_++;
        return Result::kOk;
      }
      if (c < 0x20) return failed();
      Result result = c == '\\' ? escape() : utf8();
      if (result != Result::kOk) return result;
      out->escaped |= c == '\\';
    }
  }

  // Passes a string of exactly this text, in the plain characters of a key.
  bool take_string(const std::vector<char>& text) {
    if (static_cast<size_t>(end_ - at_) < text.size() + 2 || *at_ != '"') return false;
    if (at_[text.size() + 1] != '"' || !equal(at_ + 1, text.data(), text.size())) return false;
    at_ += text.size() + 2;
    return true;
  }

  Result number(Number* out) {
    out->begin = at_;
    take('-');
    if (!is_digit(*at_)) return failed();
    const bool zero = *at_ == '0';
    const char* digits = at_;
    while (is_digit(*at_)) ++at_;
    if (zero && at_ - digits > 1) return Result::kOdd;
    out->point = at_;
    out->is_integer = true;
    out->has_exponent = false;
    if (take('.')) {
      out->is_integer = false;
      if (!is_digit(*at_)) return failed();
      while (is_digit(*at_)) ++at_;
    }
    if (*at_ == 'e' || *at_ == 'E') {
      ++at_;
      out->is_integer = false;
      out->has_exponent = true;
      if (*at_ == '+' || *at_ == '-') ++at_;
      if (!is_digit(*at_)) return failed();
      while (is_digit(*at_)) ++at_;
    }
    out->end = at_;
    return at_ >= end_ ? Result::kCut : Result::kOk;  // a number may go on behind the cut
  }

  Result word(const char* text) {
    for (; *text; ++text) {
      if (!take(*text)) return failed();
    }
    return Result::kOk;
  }

  // Any value, checked and passed over.
  Result value() {
    uint64_t objects = 0;  // a bit a level: whether it is an object
    int depth = 0;
    for (;;) {
      Result result = Result::kOk;
      bool opened = false;
      const char c = *at_;
      if (c == '"') {
        String unused;
        result = string(&unused);
      } else if (c == '[' || c == '{') {
        if (depth == kMaxDepth) return Result::kOdd;
        ++at_;
        ++depth;
        objects = objects << 1 | (c == '{');
        space();
        opened = *at_ != (c == '{' ? '}' : ']');
      } else {
        result = scalar();
      }
      if (result != Result::kOk) return result;
      if (!opened) {
        result = close(&objects, &depth);
        if (result != Result::kOk) return result;
        if (depth == 0) return Result::kOk;
      }
      if (objects & 1) {
        result = key();
        if (result != Result::kOk) return result;
      }
    }
  }

 private:
  // After a value: closes lists and objects that end here, and passes the comma otherwise.
  Result close(uint64_t* objects, int* depth) {
    while (*depth > 0) {
      space();
      if (take(',')) {
        space();
        return Result::kOk;
      }
      if (!take(*objects & 1 ? '}' : ']')) return failed();
      *objects >>= 1;
      --*depth;
    }
    return Result::kOk;
  }

  Result key() {
    String unused;
    Result result = string(&unused);
    if (result != Result::kOk) return result;
    space();
    if (!take(':')) return failed();
    space();
    return Result::kOk;
  }

  Result scalar() {
    Number unused;
    switch (*at_) {
      case 't': return word("true");
      case 'f': return word("false");
      case 'n': return word("null");
      default: return number(&unused);
    }
  }

  // Goes to the first byte that is no blank: an indented line starts with many of them.
  void blanks() {
    if (*++at_ != ' ') return;
    while (kLittleEndian && end_ - at_ >= 8) {
      const uint64_t other = load8(at_) ^ (kOnes * ' ');
      const uint64_t marked = (((other & ~kHighs) + ~kHighs) | other) & kHighs;
      if (marked) {
        at_ += first_marked(marked);
        return;
      }
      at_ += 8;
    }
    while (*at_ == ' ') ++at_;
  }

  // Goes to the first byte that is a quote, a backslash, a control character or not ASCII.
  void plain_characters() {
    while (end_ - at_ >= 8) {
      const uint64_t word = load8(at_);
      const uint64_t quote = word ^ (kOnes * '"');
      const uint64_t slash = word ^ (kOnes * '\\');
      // Exact up to the first special byte, which is all that is asked.
      const uint64_t special = (((quote - kOnes) & ~quote) | ((slash - kOnes) & ~slash) |
                                ((word - kOnes * 0x20) & ~word) | word) & kHighs;
      if (special) {
        if (kLittleEndian) {
          at_ += first_marked(special);
          return;
        }
        break;
      }
      at_ += 8;
    }
    while (static_cast<unsigned char>(*at_) >= 0x20 && static_cast<unsigned char>(*at_) < 0x80 &&
           *at_ != '"' && *at_ != '\\') {
      ++at_;
    }
  }

  Result escape() {
    ++at_;
    switch (*at_) {
      case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't':
        ++at_;
        return Result::kOk;
      case 'u': break;
      default: return failed();
    }
    uint32_t unit = 0;
    Result result = hexadecimal(&unit);
    if (result != Result::kOk) return result;
    if (unit < 0xD800 || unit > 0xDFFF) return Result::kOk;
    if (unit > 0xDBFF) return Result::kOdd;  // the second half of a pair comes first
    if (!take('\\') || *at_ != 'u') return failed();
    result = hexadecimal(&unit);
    if (result != Result::kOk) return result;
    return unit >= 0xDC00 && unit <= 0xDFFF ? Result::kOk : Result::kOdd;
  }

  Result hexadecimal(uint32_t* unit) {
    ++at_;
    *unit = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = *at_;
      const char lower = static_cast<char>(c | 0x20);
      if (is_digit(c)) {
        *unit = *unit * 16 + static_cast<uint32_t>(c - '0');
      } else if (lower >= 'a' && lower <= 'f') {
        *unit = *unit * 16 + static_cast<uint32_t>(lower - 'a' + 10);
      } else {
        return failed();
      }
    }
    return Result::kOk;
  }

  // One character beyond ASCII, by the table of well-formed sequences of the Unicode standard.
  Result utf8() {
    const auto lead = static_cast<unsigned char>(*at_++);
    int more = 0;
    unsigned char low = 0x80, high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
      more = 1;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      more = 2;
      if (lead == 0xE0) low = 0xA0;
      if (lead == 0xED) high = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      more = 3;
      if (lead == 0xF0) low = 0x90;
      if (lead == 0xF4) high = 0x8F;
    } else {
      return Result::kOdd;
    }
    for (; more > 0; --more, ++at_) {
      const auto c = static_cast<unsigned char>(*at_);
      if (c < low || c > high) return failed();
      low = 0x80;
      high = 0xBF;
    }
    return Result::kOk;
  }

  const char* at_;
  const char* end_;
};

// The keys of objects of one sort, each with what it means to the caller.
//
// Recorders write keys in the same order again and again, so the key that followed another one last
// time is tried first: comparing a text is several times cheaper than reading one and finding it.
class Keys {
 public:
  static constexpr int32_t kUnknown = -1;
  static constexpr uint32_t kNone = 0;  // what comes before the first key of an object

  Keys() : keys_(1) {}

  void add(const char* text, size_t length, int32_t meaning) {
    size_t slot = slot_of(text, length);
    if (slots_[slot] != kNone) return;
    slots_[slot] = static_cast<uint32_t>(keys_.size());
    keys_.push_back({std::vector<char>(text, text + length), meaning, kNone});
  }

  // Reads a key and the colon behind it; `*key` is the key before it and becomes this one.
  Result read(Cursor* cursor, uint32_t* key) {
    const uint32_t expected = keys_[*key].next;
    if (expected != kNone && cursor->take_string(keys_[expected].text)) {
      *key = expected;
    } else {
      String string;
      const Result result = cursor->string(&string);
      if (result != Result::kOk) return result;
      if (string.escaped) return Result::kOdd;
      const uint32_t found = found_or_added(string);
      keys_[*key].next = found;
      *key = found;
    }
    cursor->space();
    if (!cursor->take(':')) return cursor->failed();
    cursor->space();
    return Result::kOk;
  }

  int32_t meaning(uint32_t key) const { return keys_[key].meaning; }

  static constexpr size_t kMost = 512;

 private:
  struct Key {
    std::vector<char> text;
    int32_t meaning = kUnknown;
    uint32_t next = kNone;
  };

  uint32_t found_or_added(const String& string) {
    const size_t slot = slot_of(string.begin, string.length());
    if (slots_[slot] == kNone && keys_.size() <= kMost) {
      add(string.begin, string.length(), kUnknown);
    }
    return slots_[slot];  // kNone for the many keys of made-up events: an unknown one, too
  }

  // Where the key is, or would be.
  size_t slot_of(const char* text, size_t length) const {
    size_t slot = hash_of(text, length) & kMask;
    for (; slots_[slot] != kNone; slot = (slot + 1) & kMask) {
      const auto& key = keys_[slots_[slot]].text;
      if (key.size() == length && equal(key.data(), text, length)) break;
    }
    return slot;
  }

  static constexpr size_t kMask = 4 * kMost - 1;
  std::vector<Key> keys_;
  std::vector<uint32_t> slots_ = std::vector<uint32_t>(kMask + 1, kNone);
};

// Eight digits, the first one in the lowest byte, as a number: pairs, then fours, then all.
uint64_t eight_digits(uint64_t word) {
  word -= kOnes * '0';
  word = word * 10 + (word >> 8);
  const uint64_t mask = 0x000000FF000000FFULL;
  return ((word & mask) * (100 + (1000000ULL << 32)) +
          ((word >> 16) & mask) * (1 + (10000ULL << 32))) >> 32;
}

// Digits as a number; there are at most kSafeDigits of them.
int64_t integer(const char* begin, const char* end) {
  int64_t value = 0;
  for (; kLittleEndian && end - begin >= 8; begin += 8) {
    value = value * 100000000 + static_cast<int64_t>(eight_digits(load8(begin)));
  }
  for (; begin != end; ++begin) value = value * 10 + (*begin - '0');
  return value;
}

// Whether the decimals behind the third one round the ns up: half to even, as values.py has it.
bool rounds_up(const char* rest, const char* end, bool odd) {
  if (rest == end || *rest != '5') return rest != end && *rest > '5';
  for (++rest; rest != end; ++rest) {
    if (*rest != '0') return true;
  }
  return odd;
}

// Microseconds as a decimal text without exponent, in ns; false where they do not fit.
bool nanoseconds(const char* begin, const char* point, const char* end, int64_t* out) {
  const bool negative = *begin == '-';
  begin += negative;
  if (point - begin > kSafeDigits) return false;
  int64_t value = integer(begin, point);
  if (value > kMostMicroseconds) return false;
  const char* decimal = end == point ? end : point + 1;
  for (int i = 0; i < 3; ++i) value = value * 10 + (decimal == end ? 0 : *decimal++ - '0');
  value += rounds_up(decimal, end, value & 1);
  *out = negative ? -value : value;
  return true;
}

// ---------------------------------------------------------------------------------------------
// Entries

// What the keys of an entry mean; the first ones are those that are kept as codes.
enum Field {
  kPhase, kName, kCategory, kProcess, kThread, kDenseTexts,
  kStartField = kDenseTexts, kDurationField, kIdentity, kSecondIdentity, kArguments, kFields
};
constexpr const char* kFieldKeys[kFields] = {"ph", "name", "cat", "pid", "tid",
                                             "ts", "dur",  "id",  "id2", "args"};
enum Clock { kStart, kDuration, kClocks };

struct Time {
  int64_t nanoseconds = 0;
  bool known = false;
};

struct Entry {
  int32_t codes[kDenseTexts] = {-1, -1, -1, -1, -1};
  Time times[kClocks];
  String phase;
  String category;
  const char* identity[2] = {nullptr, nullptr};  // the texts of `id` and `id2`
  const char* identity_end[2] = {nullptr, nullptr};
  bool has_arguments = false;
};

}  // namespace

struct traceview_scanner {
  Dense dense[kDenseTexts];
  Times times[kClocks];
  std::vector<Sparse> sparse;  // the last one is the identity of asynchronous events
  Keys fields;
  Keys keys;  // of `args`: those that are kept mean their column
  uint32_t rows = 0;

  traceview_scanner() {
    for (int32_t i = 0; i < kFields; ++i) fields.add(kFieldKeys[i], std::strlen(kFieldKeys[i]), i);
  }

  Stop scan(const char* begin, const char* end, const char** at);
  void push(const Entry& entry);

 private:
  Result entry(Cursor* cursor, Entry* out);
  Result field(Cursor* cursor, int32_t meaning, Entry* out);
  Result text(Cursor* cursor, Field field, Entry* out);
  Result identity(Cursor* cursor, int which, Entry* out);
  Result process_or_thread(Cursor* cursor, Field field, Entry* out);
  Result time(Cursor* cursor, Time* out);
  Result arguments(Cursor* cursor);
  Result argument(Cursor* cursor, Sparse* column);
  Result number_argument(Cursor* cursor, Sparse* column);
  Result text_argument(Cursor* cursor, Sparse* column);
  void keep_identity(const Entry& entry);
  void forget();
};

Stop traceview_scanner::scan(const char* begin, const char* end, const char** at) {
  Cursor cursor(begin, end);
  for (;;) {
    cursor.space();
    *at = cursor.at();
    Entry found;
    Result result = entry(&cursor, &found);
    if (result == Result::kOk) {
      cursor.space();
      if (cursor.peek() != ',' && cursor.peek() != ']') result = cursor.failed();
    }
    if (result != Result::kOk) {
      forget();
      return result == Result::kCut ? kMore : kOdd;
    }
    push(found);
    const bool closed = cursor.peek() == ']';
    cursor.advance();
    *at = cursor.at();
    if (closed) return kClosed;
  }
}

void traceview_scanner::push(const Entry& entry) {
  if (rows == UINT32_MAX) throw std::bad_alloc();  // no place in the rows of sparse columns
  keep_identity(entry);
  for (int i = 0; i < kDenseTexts; ++i) dense[i].codes.push(entry.codes[i]);
  for (int i = 0; i < kClocks; ++i) {
    times[i].nanoseconds.push(entry.times[i].nanoseconds);
    times[i].known.push(entry.times[i].known);
  }
  ++rows;
}

// The flows of Kineto, of all ages: their `id` repeats what their ends say (format notes, 2.3, 3.1).
bool is_redundant_flow(const Entry& entry) {
  static const char* const kCategories[] = {"ac2g",  "fwdbwd", "async", "async_gpu",
                                            "async_cpu_to_gpu", "forward_backward"};
  if (!entry.phase.begin || entry.phase.length() != 1 || !entry.category.begin) return false;
  const char phase = *entry.phase.begin;
  if (phase != 's' && phase != 't' && phase != 'f') return false;
  for (const char* category : kCategories) {
    if (entry.category.length() == std::strlen(category) &&
        std::memcmp(entry.category.begin, category, entry.category.length()) == 0) {
      return true;
    }
  }
  return false;
}

void traceview_scanner::keep_identity(const Entry& entry) {
  const int which = entry.identity[0] ? 0 : 1;
  const char* begin = entry.identity[which];
  const char* end = entry.identity_end[which];
  if (!begin || (end - begin == 4 && std::memcmp(begin, "null", 4) == 0)) return;
  if (is_redundant_flow(entry)) return;
  Sparse& column = sparse.back();
  column.codes.push(column.texts.code_of(begin, static_cast<size_t>(end - begin)));
  column.rows.push(rows);
}

// Takes back what an entry that was not taken has left in the columns.
void traceview_scanner::forget() {
  for (auto& column : sparse) {
    column.forget(rows);
    column.seen = -1;
  }
}

Result traceview_scanner::entry(Cursor* cursor, Entry* out) {
  if (!cursor->take('{')) return cursor->failed();
  cursor->space();
  if (cursor->take('}')) return Result::kOk;
  for (uint32_t key = Keys::kNone;;) {
    Result result = fields.read(cursor, &key);
    if (result != Result::kOk) return result;
    result = field(cursor, fields.meaning(key), out);
    if (result != Result::kOk) return result;
    cursor->space();
    if (cursor->take('}')) return Result::kOk;
    if (!cursor->take(',')) return cursor->failed();
    cursor->space();
  }
}

Result traceview_scanner::field(Cursor* cursor, int32_t meaning, Entry* out) {
  switch (meaning) {
    case kPhase: case kName: case kCategory: return text(cursor, static_cast<Field>(meaning), out);
    case kProcess: case kThread:
      return process_or_thread(cursor, static_cast<Field>(meaning), out);
    case kStartField: return time(cursor, &out->times[kStart]);
    case kDurationField: return time(cursor, &out->times[kDuration]);
    case kIdentity: return identity(cursor, 0, out);
    case kSecondIdentity: return identity(cursor, 1, out);
    case kArguments:
      if (out->has_arguments) return Result::kOdd;
      out->has_arguments = true;
      return arguments(cursor);
    default: return cursor->value();
  }
}

Result traceview_scanner::text(Cursor* cursor, Field field, Entry* out) {
  if (cursor->peek() == 'n') {
    out->codes[field] = -1;
    if (field == kPhase) out->phase = String();
    if (field == kCategory) out->category = String();
    return cursor->word("null");
  }
  String string;
  Result result = cursor->string(&string);
  if (result != Result::kOk) return result;
  if (field == kPhase || field == kCategory) {
    if (string.escaped) return Result::kOdd;
    (field == kPhase ? out->phase : out->category) = string;
  }
  out->codes[field] = dense[field].texts.code_of(string.begin, string.length());
  return Result::kOk;
}

Result traceview_scanner::identity(Cursor* cursor, int which, Entry* out) {
  out->identity[which] = cursor->at();
  Result result = cursor->value();
  out->identity_end[which] = cursor->at();
  return result;
}

Result traceview_scanner::process_or_thread(Cursor* cursor, Field field, Entry* out) {
  const char first = cursor->peek();
  if (first == '"' || first == 'n') return text(cursor, field, out);
  Number number;
  Result result = cursor->number(&number);
  if (result != Result::kOk) return result;
  const auto length = number.end - number.begin;
  const bool negative_zero = length == 2 && number.begin[0] == '-' && number.begin[1] == '0';
  if (!number.is_integer || length > kSafeDigits || negative_zero) return Result::kOdd;
  out->codes[field] = dense[field].texts.code_of(number.begin, static_cast<size_t>(length));
  return Result::kOk;
}

Result traceview_scanner::time(Cursor* cursor, Time* out) {
  if (cursor->peek() == 'n') {
    out->known = false;
    out->nanoseconds = 0;
    return cursor->word("null");
  }
  Number number;
  if (cursor->peek() != '"') {
    Result result = cursor->number(&number);
    if (result != Result::kOk) return result;
  } else {
    // Ascend writes times as strings (format notes, 5).
    String string;
    Result result = cursor->string(&string);
    if (result != Result::kOk) return result;
    Cursor(string.begin, string.end).number(&number);
    if (number.end != string.end) return Result::kOdd;
  }
  if (number.has_exponent) return Result::kOdd;
  out->known = nanoseconds(number.begin, number.point, number.end, &out->nanoseconds);
  return out->known ? Result::kOk : Result::kOdd;
}

Result traceview_scanner::arguments(Cursor* cursor) {
  if (cursor->peek() != '{') return cursor->value();
  cursor->advance();
  cursor->space();
  if (cursor->take('}')) return Result::kOk;
  for (uint32_t key = Keys::kNone;;) {
    Result result = keys.read(cursor, &key);
    if (result != Result::kOk) return result;
    const int32_t column = keys.meaning(key);
    result = column == Keys::kUnknown ? cursor->value() : argument(cursor, &sparse[column]);
    if (result != Result::kOk) return result;
    cursor->space();
    if (cursor->take('}')) return Result::kOk;
    if (!cursor->take(',')) return cursor->failed();
    cursor->space();
  }
}

Result traceview_scanner::argument(Cursor* cursor, Sparse* column) {
  // Two keys for one argument, an older name beside the present one: values.py knows which wins.
  if (column->seen == rows) return Result::kOdd;
  column->seen = rows;
  if (cursor->peek() == 'n') return cursor->word("null");
  return column->is_text ? text_argument(cursor, column) : number_argument(cursor, column);
}

Result traceview_scanner::number_argument(Cursor* cursor, Sparse* column) {
  const char first = cursor->peek();
  const char* begin;
  const char* end;
  if (first == '"') {
    String string;
    Result result = cursor->string(&string);
    if (result != Result::kOk) return result;
    if (string.escaped) return Result::kOdd;
    begin = string.begin;
    end = string.end;
    const char* digit = begin + (begin != end && *begin == '-');
    const bool empty = digit == end;
    while (digit != end && is_digit(*digit)) ++digit;
    if (empty || digit != end) return Result::kOk;  // a text: not this argument's integer
  } else if (first == '-' || is_digit(first)) {
    Number number;
    Result result = cursor->number(&number);
    if (result != Result::kOk) return result;
    if (!number.is_integer) return Result::kOdd;
    begin = number.begin;
    end = number.end;
  } else {
    return cursor->failed();
  }
  const bool negative = *begin == '-';
  begin += negative;
  if (negative && column->is_unsigned) return Result::kOdd;
  uint64_t value;
  if (end - begin <= kSafeDigits) {
    value = static_cast<uint64_t>(integer(begin, end));
  } else if (column->is_unsigned && end - begin == kSafeDigits + 1) {
    // 19 digits always fit a uint64.
    value = static_cast<uint64_t>(integer(begin, end - 1)) * 10 +
            static_cast<uint64_t>(end[-1] - '0');
  } else {
    return Result::kOdd;
  }
  column->numbers.push(negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value));
  column->rows.push(rows);
  return Result::kOk;
}

Result traceview_scanner::text_argument(Cursor* cursor, Sparse* column) {
  const char* begin = cursor->at();
  Result result = cursor->value();
  if (result != Result::kOk) return result;
  column->codes.push(column->texts.code_of(begin, static_cast<size_t>(cursor->at() - begin)));
  column->rows.push(rows);
  return Result::kOk;
}

// ---------------------------------------------------------------------------------------------
// The C interface

#if defined(_WIN32)
#define TRACEVIEW_API extern "C" __declspec(dllexport)
#else
#define TRACEVIEW_API extern "C" __attribute__((visibility("default")))
#endif

// A scanner with `texts` text columns behind `integers` integer ones and one more for `id`;
// NULL without memory or where there are more keys than it can hold.
TRACEVIEW_API traceview_scanner* traceview_scanner_new(const char* const* keys,
                                                       const int32_t* columns, int32_t count,
                                                       const uint8_t* is_unsigned,
                                                       int32_t integers, int32_t texts) {
  try {
    if (count < 0 || static_cast<size_t>(count) > Keys::kMost) return nullptr;
    auto scanner = std::make_unique<traceview_scanner>();
    scanner->sparse = std::vector<Sparse>(static_cast<size_t>(integers + texts + 1));
    for (int32_t i = 0; i < integers; ++i) scanner->sparse[i].is_unsigned = is_unsigned[i];
    for (int32_t i = integers; i <= integers + texts; ++i) scanner->sparse[i].is_text = true;
    for (int32_t i = 0; i < count; ++i) {
      scanner->keys.add(keys[i], std::strlen(keys[i]), columns[i]);
    }
    return scanner.release();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

TRACEVIEW_API void traceview_scanner_free(traceview_scanner* scanner) { delete scanner; }

// Takes entries from `*position` on; returns a Stop, with `*position` where the scan stopped.
TRACEVIEW_API int32_t traceview_scan(traceview_scanner* scanner, const char* data,
                                     uint64_t length, uint64_t* position) {
  try {
    const char* at = data + *position;
    const Stop stop = scanner->scan(at, data + length, &at);
    *position = static_cast<uint64_t>(at - data);
    return stop;
  } catch (const std::bad_alloc&) {
    return kNoMemory;
  }
}

// An empty place; returns its row or kNoMemory.
TRACEVIEW_API int64_t traceview_reserve(traceview_scanner* scanner) {
  try {
    scanner->push(Entry());
    return static_cast<int64_t>(scanner->rows) - 1;
  } catch (const std::bad_alloc&) {
    return kNoMemory;
  }
}

TRACEVIEW_API uint64_t traceview_rows(const traceview_scanner* scanner) { return scanner->rows; }

TRACEVIEW_API void traceview_take_dense(traceview_scanner* scanner, int32_t field, int32_t* codes) {
  scanner->dense[field].codes.take(codes);
}

TRACEVIEW_API void traceview_take_times(traceview_scanner* scanner, int32_t clock,
                                        int64_t* nanoseconds, uint8_t* known) {
  scanner->times[clock].nanoseconds.take(nanoseconds);
  scanner->times[clock].known.take(known);
}

TRACEVIEW_API uint64_t traceview_sparse_size(const traceview_scanner* scanner, int32_t column) {
  return scanner->sparse[column].rows.size();
}

TRACEVIEW_API void traceview_take_integers(traceview_scanner* scanner, int32_t column,
                                           int64_t* rows, int64_t* values) {
  scanner->sparse[column].rows.take(rows);
  scanner->sparse[column].numbers.take(values);
}

TRACEVIEW_API void traceview_take_texts(traceview_scanner* scanner, int32_t column, int64_t* rows,
                                        int32_t* codes) {
  scanner->sparse[column].rows.take(rows);
  scanner->sparse[column].codes.take(codes);
}

// The distinct texts of a column, as they stand in the file: `count` of them, one behind the
// other in `*text`, each up to its place in `*ends`. Dense fields come first, then sparse columns.
TRACEVIEW_API uint64_t traceview_dictionary(const traceview_scanner* scanner, int32_t column,
                                            const char** text, const uint64_t** ends) {
  const Dictionary& found = column < kDenseTexts
                                ? scanner->dense[column].texts
                                : scanner->sparse[column - kDenseTexts].texts;
  *text = found.text();
  *ends = found.ends();
  return found.count();
}

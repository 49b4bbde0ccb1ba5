/// The only script on Redis: a row is a hash, which is created if there is none, or changed if one
/// of the clauses holds (docs/spec/ledger-statements.md §4).
enum GuardScript {
  static let text: StaticString = """
    local k, a, i, how = KEYS[1], ARGV, 1, '0'
    local function nxt() i = i + 1; return a[i - 1] end
    local function list() local t = {}; for j = 1, tonumber(nxt()) do t[j] = nxt() end; return t end
    local expire, create, hit = nxt(), list(), false
    if redis.call('EXISTS', k) == 0 then
      if #create > 0 then redis.call('HSET', k, unpack(create)); how = '1' end
    else
      for c = 1, tonumber(nxt()) do
        local t, all = list(), true
        for j = 1, #t, 3 do
          local v, w, ok = redis.call('HGET', k, t[j + 1]), t[j + 2], false
          if t[j] == 'eq' then ok = (v == w) elseif t[j] == 'ne' then ok = (v ~= w)
          else
            local x, y = tonumber(v or ''), tonumber(w)
            if x and y then ok = (t[j] == 'lt' and x < y) or (t[j] == 'le' and x <= y) or (t[j] == 'ge' and x >= y) end
          end
          all = all and ok
        end
        hit = hit or all
      end
      if hit then
        local s, n = list(), list()
        if #s > 0 then redis.call('HSET', k, unpack(s)) end
        for j = 1, #n, 2 do redis.call('HINCRBY', k, n[j], n[j + 1]) end
        how = '2'
      end
    end
    if how ~= '0' and expire ~= '' then redis.call('PEXPIREAT', k, expire) end
    local r = redis.call('HGETALL', k); table.insert(r, 1, how); return r
    """

  /// SHA-1 of the text in lower-case hex, by which a server finds a script that it has loaded.
  static let sha1: StaticString = "6a328bc496604b6a80344c714451f053ea8c2184"
}

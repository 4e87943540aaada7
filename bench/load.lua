-- The load that wrk makes: whole requests, written beforehand by bench/orders.py, sent in turn.
--
-- A request is two strings; a reference of a fixed width goes between them, so that its
-- Content-Length is known beforehand and a request costs one concatenation here.
-- A request of one string is sent as it is.

-- The first thread's number tells the references of two threads apart; wrk gives each its own Lua.
local threads = {}

function setup(thread)
   table.insert(threads, thread)
   thread:set("number", #threads)
end

-- Globals, because wrk hands only these to `done`.
refused = 0
sample = ""

local before, after, count, prefix, success
local sent = 0

-- wrk passes what follows `--`: the file of requests, the name of the run, and what a good reply holds.
function init(args)
   local orders = dofile(args[1])
   before, after, count = {}, {}, #orders
   for place, order in ipairs(orders) do
      before[place], after[place] = order[1], order[2]
   end
   prefix = args[2] .. string.char(96 + number)
   success = args[3]
end

function request()
   sent = sent + 1
   local place = sent % count + 1
   local rest = after[place]
   if rest then
      return before[place] .. prefix .. string.format("%09d", sent) .. rest
   end
   return before[place]
end

-- Refusals are HTTP 200, so the body has to be read. The headers are not looked at.
function response(status, headers, body)
   if status == 200 and string.find(body, success, 1, true) then return end
   refused = refused + 1
   if sample == "" then sample = status .. " " .. string.sub(body, 1, 300) end
end

local function quote(text)
   return '"' .. text:gsub('[%c"\\]', function(c) return string.format("\\u%04x", c:byte()) end) .. '"'
end

-- One line of JSON, the last that wrk prints.
function done(summary, latency)
   local total, example = 0, ""
   for _, thread in ipairs(threads) do
      total = total + thread:get("refused")
      if example == "" then example = thread:get("sample") end
   end
   local broken = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
   io.write(string.format(
      '{"requests":%d,"microseconds":%d,"refused":%d,"broken":%d,"p50_us":%d,"p99_us":%d,"sample":%s}\n',
      summary.requests, summary.duration, total, broken,
      latency:percentile(50), latency:percentile(99), quote(example)))
end

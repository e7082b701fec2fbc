import { defineScript, RedisClient } from 'redis'

/** The id of a key: the part after the name of its group. */
const ID = 'string.sub(KEYS[1], #KEYS[2] + 2)'
/** Writes a permanent value and adds its id to the group, or writes an expiring value and removes its id from the group. */
const WRITE = `
  if ARGV[2] == '' then redis.call('SET', KEYS[1], ARGV[1]); redis.call('ZADD', KEYS[2], ARGV[3], ${ID})
  else redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]); redis.call('ZREM', KEYS[2], ${ID}) end`
const REMOVE = `redis.call('ZREM', KEYS[2], ${ID}); return redis.call('DEL', KEYS[1])`

export const scripts = {
  // ARGV: value; ttl or ''; place.
  write: script(`${WRITE} return 1`),
  remove: script(REMOVE),
  // ARGV: next; ttl, '' or 'kept'; place; expected. '' means absent, because a value is never empty.
  swap: script(`
    if (redis.call('GET', KEYS[1]) or '') ~= ARGV[4] then return 0 end
    if ARGV[1] == '' then ${REMOVE.replace('return ', '')}
    elseif ARGV[2] == 'kept' then redis.call('SET', KEYS[1], ARGV[1], 'KEEPTTL')
    else ${WRITE} end
    return 1`),
}

/** Creates a client. All clients share a class, because `createClient` would build a class of 400 commands each time (50 ms). */
export const createClient = RedisClient.factory({ scripts })

function script(SCRIPT: string) {
  // The copy's type does not refer to files inside the package `redis`, so the core also compiles if packages are links (pnpm).
  return {
    ...defineScript({
      SCRIPT,
      NUMBER_OF_KEYS: 2,
      parseCommand(parser, name: string, group: string, ...args: string[]) {
        parser.pushKeys([name, group])
        parser.push(...args)
      },
      transformReply: (reply: number) => reply === 1,
    }),
  }
}

/** How often servers and Sentinels are asked, and how long an answer, or opening a connection, may take, in ms. */
export const [WATCH_MS, SILENCE_MS] = [250, 1_200]

/** Whether this is the address of a Sentinel, with the name of the master as its path. */
export const isSentinelUrl = (url: string): boolean => /^rediss?\+sentinel:/.test(url)

/** The options of each connection: to a server, to a master of a cluster, and to a Sentinel. */
export const socketOptions = {
  connectTimeout: SILENCE_MS,
  // The time limit of the requests that a cluster client sends to its nodes, which have no other limit.
  socketTimeout: 5_000,
  // The code that uses a client replaces a lost connection, because another server may be the master then.
  reconnectStrategy: false as const,
}

/** The client options for an address. Maintenance notifications (Redis Enterprise) would look up its host, which fails for IPv6. */
export const clientOptions = (url: string) => ({
  url,
  socket: { ...socketOptions },
  maintNotifications: 'disabled' as const,
})

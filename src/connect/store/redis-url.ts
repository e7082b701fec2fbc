/** How often servers and Sentinels are asked, and how long a silence, or the opening of a connection, may last, in ms. */
export const [WATCH_MS, SILENCE_MS] = [250, 1_200]

/** Whether this is the address of a Sentinel, with the name of the master as its path. */
export const isSentinelUrl = (url: string): boolean => /^rediss?\+sentinel:/.test(url)

/** How each connection is opened, to a server, to a master of a cluster, and to a Sentinel. */
export const socketOptions = {
  connectTimeout: SILENCE_MS,
  // This limits what has no other limit: the questions that a cluster client asks its nodes.
  socketTimeout: 5_000,
  // The code that uses a client replaces a lost connection, because another server may be the master then.
  reconnectStrategy: false as const,
}

/** The options of a client of this address. Maintenance notifications (Redis Enterprise) look up its host, which fails for IPv6. */
export const clientOptions = (url: string) => ({
  url,
  socket: { ...socketOptions },
  maintNotifications: 'disabled' as const,
})

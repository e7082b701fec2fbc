/** How often servers and Sentinels are asked, and after which silence they are replaced, also while a connection is opened, in ms. */
export const [WATCH_MS, SILENCE_MS] = [250, 1_200]

/** Whether this is the address of a Sentinel, with the name of the master as its path. */
export const isSentinelUrl = (url: string): boolean => /^rediss?\+sentinel:/.test(url)

/** How each connection is opened, to a server, to a master of a cluster, and to a Sentinel. */
export const socketOptions = {
  connectTimeout: SILENCE_MS,
  // For what has no other limit: the questions of a cluster client to its nodes.
  socketTimeout: 5_000,
  // A connection that is lost is replaced by its owner: another server may be the master then.
  reconnectStrategy: false as const,
}

/** For a client of this address. Notifications of maintenance (of Redis Enterprise) look its host up, which fails for IPv6. */
export const clientOptions = (url: string) => ({
  url,
  socket: { ...socketOptions },
  maintNotifications: 'disabled' as const,
})

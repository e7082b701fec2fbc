/** How often servers and Sentinels are asked, and after which silence they are replaced, also while a connection is opened, in ms. */
export const [WATCH_MS, SILENCE_MS] = [250, 1_200]

/** Whether this is the address of a Sentinel, with the name of the master as its path. */
export const isSentinelUrl = (url: string): boolean => /^rediss?\+sentinel:/.test(url)

/** For a client of this address. Notifications of maintenance (of Redis Enterprise) look its host up, which fails for IPv6. */
export const urlOptions = (url: string) => ({ url, maintNotifications: 'disabled' as const })

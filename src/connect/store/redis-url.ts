/** Whether this is the address of a Sentinel, with the name of the master as its path. */
export const isSentinelUrl = (url: string): boolean => /^rediss?\+sentinel:/.test(url)

/** A host in a url: an IPv6 address has brackets there. */
export const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/** The options of a client. node-redis cannot read a url with an IPv6 address: it takes the brackets for a part of the name. */
export function parseRedisUrl(url: string) {
  const { protocol, hostname, port, username, password, pathname } = new URL(url)
  const tls = protocol === 'rediss:'
  const [, database] = /^\/(\d+)$/.exec(pathname) ?? []
  return {
    socket: {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || 6379),
      ...(tls && { tls: true as const }),
    },
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...(database && { database: Number(database) }),
  }
}

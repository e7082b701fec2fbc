/**
 * The IPv4 address, or the /64 network of an IPv6 address, because a host can use any address in it. Some proxies add the
 * port to an address in `X-Forwarded-For`, as in `203.0.113.7:4711` or `[2001:db8::1]:4711`: the port is ignored.
 */
export function networkOf(address: string): string {
  const [, six, four] = /^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/.exec(address) ?? []
  const ip = six ?? four ?? address
  if (!ip.includes(':') || ip.startsWith('::ffff:')) return ip
  const [head = '', tail] = ip.split('::')
  const first = head.split(':').filter(Boolean)
  const last = tail?.split(':').filter(Boolean) ?? []
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length)
  return [...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, 4).join(':')
}

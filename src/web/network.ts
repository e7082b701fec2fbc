/** The IPv4 address, or the /64 network of an IPv6 address, as a host can use any address in its network. */
export function networkOf(ip: string): string {
  if (!ip.includes(':') || ip.startsWith('::ffff:')) return ip
  const [head = '', tail] = ip.split('::')
  const first = head.split(':').filter(Boolean)
  const last = tail?.split(':').filter(Boolean) ?? []
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length)
  return [...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, 4).join(':')
}

/** Whether this is the address of a Sentinel, with the name of the master as its path. */
export const isSentinelUrl = (url: string): boolean => /^rediss?\+sentinel:/.test(url)

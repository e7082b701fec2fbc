/** A form with one file, as the body of a request that is sent as text. */
export const fileForm = (content: string, name = 'prices.csv') => ({
  text: `--b\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n${content}\r\n--b--\r\n`,
  headers: { 'content-type': 'multipart/form-data; boundary=b' },
})

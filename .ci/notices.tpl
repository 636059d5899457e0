Third-party software in Farsight
================================

The binary holds the libraries below, under their licences. Made by go-licenses.
The Go standard library is under the licence that golang.org/x/sys has.
{{ range . }}
--------------------------------------------------------------------------------
{{ .Name }} {{ .Version }} ({{ .LicenseName }})

{{ .LicenseText }}
{{ end -}}

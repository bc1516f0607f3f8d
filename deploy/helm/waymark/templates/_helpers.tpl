{{/* The name of all objects, which leaves room for what is added to it. */}}
{{- define "waymark.name" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride }}
{{- else if contains .Chart.Name .Release.Name -}}
{{ .Release.Name | trunc 43 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 43 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{/* What selects pods that serve. It never changes: selectors are immutable. */}}
{{- define "waymark.selector" -}}
app.kubernetes.io/name: waymark
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Labels of objects, besides those of the selector. */}}
{{- define "waymark.labels" -}}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The component of a service: in mode single one pod has all roles. */}}
{{- define "waymark.component" -}}
app.kubernetes.io/component: {{ ternary "single" .role (eq .root.Values.mode "single") }}
{{- end }}

{{- define "waymark.image" -}}
{{- with .Values.image -}}
{{ required "image.repository is required: the image that you built, such as registry.example.com/waymark (docs/containers.md)" .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{- define "waymark.acme" -}}
{{ if eq (toString (index .Values.settings "tls")) "acme" }}true{{ end }}
{{- end }}

{{/* Whether the API's listener ends TLS itself. */}}
{{- define "waymark.apiTLS" -}}
{{ if and (include "waymark.acme" .) (hasKey .Values.settings "api-host") }}true{{ end }}
{{- end }}

{{- define "waymark.settings" -}}
{{- $own := dict "data-dir" "/data" "api-addr" ":8080" "public-addr" ":8081" "metrics-addr" ":8082" }}
{{- if include "waymark.acme" . }}
{{- $_ := set $own "http-addr" ":8083" }}
{{- end }}
{{- if and .Values.api.ingress.enabled (not (hasKey .Values.settings "api-url")) }}
{{- $_ := set $own "api-url" (printf "https://%s" .Values.api.ingress.host) }}
{{- end }}
{{- merge $own .Values.settings | toYaml }}
{{- end }}

{{- define "waymark.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "waymark.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* Variables with what is secret. */}}
{{- define "waymark.databaseEnv" -}}
{{- if eq .Values.mode "cluster" }}
- name: WAYMARK_DATABASE
  valueFrom:
    secretKeyRef:
      name: {{ .Values.database.secret }}
      key: {{ .Values.database.key }}
{{- end }}
{{- end }}

{{- define "waymark.env" -}}
- name: WAYMARK_CONFIG
  value: /etc/waymark/waymark.yaml
# Temporary files go with the pod, even when it is killed.
- name: TMPDIR
  value: /tmp
{{- include "waymark.databaseEnv" . }}
{{- with .Values.clickhouse }}
{{- if .secret }}
- name: WAYMARK_EVENTS
  valueFrom:
    secretKeyRef:
      name: {{ .secret }}
      key: {{ .key }}
{{- end }}
{{- end }}
{{- with .Values.s3.secret }}
{{- range $name := list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" "AWS_SESSION_TOKEN" }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $.Values.s3.secret }}
      key: {{ $name }}
      {{- if eq $name "AWS_SESSION_TOKEN" }}
      optional: true
      {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "waymark.mounts" -}}
- name: data
  mountPath: /data
- name: tmp
  mountPath: /tmp
- name: config
  mountPath: /etc/waymark/waymark.yaml
  subPath: waymark.yaml
  readOnly: true
{{- include "waymark.fileMounts" . }}
{{- end }}

{{/* Files of a Secret: an address of a database may name a certificate among them. */}}
{{- define "waymark.fileMounts" -}}
{{- if .Values.files.secret }}
- name: files
  mountPath: /etc/waymark/files
  readOnly: true
{{- end }}
{{- end }}

{{/* Volumes of a pod, besides that of /data. */}}
{{- define "waymark.volumes" -}}
- name: tmp
  emptyDir: {}
- name: config
  configMap:
    name: {{ include "waymark.name" . }}
{{- include "waymark.fileVolumes" . }}
{{- end }}

{{- define "waymark.fileVolumes" -}}
{{- with .Values.files.secret }}
- name: files
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- end }}

{{/* What all pods have. */}}
{{- define "waymark.placement" -}}
automountServiceAccountToken: false
# The variables that Kubernetes makes of Services begin like settings.
enableServiceLinks: false
securityContext:
  {{- include "waymark.podSecurity" . | nindent 2 }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* The template of a pod that serves: root, role ("single" has all), and whether /data is a volume of the StatefulSet. */}}
{{- define "waymark.pod" -}}
{{- $single := eq .role "single" }}
{{- $visited := has .role (list "api" "redirect") }}
{{- $values := index .root.Values .role }}
metadata:
  labels:
    {{- include "waymark.selector" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
    {{- include "waymark.labels" .root | nindent 4 }}
  annotations:
    # Pods read their settings once: others make other pods.
    waymark/settings: {{ include "waymark.settings" .root | sha256sum }}
    {{- with .root.Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- include "waymark.placement" .root | nindent 2 }}
  {{- with .root.Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if not $single }}
  topologySpreadConstraints:
    {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "waymark.selector" $.root | nindent 10 }}
          app.kubernetes.io/component: {{ $.role }}
    {{- end }}
  {{- end }}
  # A minute for requests under way and the click log, as in deploy/waymark.service, and the wait before.
  terminationGracePeriodSeconds: {{ ternary 65 60 $visited }}
  containers:
    - name: waymark
      image: {{ include "waymark.image" .root }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args:
        - serve
        {{- if not $single }}
        - --roles={{ .role }}
        - --no-migrate
        {{- end }}
      env:
        {{- include "waymark.env" .root | nindent 8 }}
      ports:
        {{- if has .role (list "single" "api") }}
        - name: api
          containerPort: 8080
        {{- end }}
        {{- if has .role (list "single" "redirect") }}
        - name: public
          containerPort: 8081
        {{- end }}
        - name: metrics
          containerPort: 8082
        {{- if and (include "waymark.acme" .root) (or (has .role (list "single" "redirect")) (include "waymark.apiTLS" .root)) (ne .role "executor") }}
        - name: http
          containerPort: 8083
        {{- end }}
      # A start may bring a large database to a newer schema in mode single, and answers nothing meanwhile.
      startupProbe:
        httpGet: {path: /healthz, port: metrics}
        periodSeconds: 2
        failureThreshold: {{ ternary 1800 60 $single }}
      livenessProbe:
        httpGet: {path: /healthz, port: metrics}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: {path: /readyz, port: metrics}
        periodSeconds: 5
        timeoutSeconds: 3
        failureThreshold: 2
      {{- if $visited }}
      # Proxies learn of a pod's end later than the pod: until then it goes on.
      lifecycle:
        preStop:
          sleep:
            seconds: 5
      {{- end }}
      securityContext:
        {{- include "waymark.containerSecurity" .root | nindent 8 }}
      resources:
        {{- toYaml $values.resources | nindent 8 }}
      volumeMounts:
        {{- include "waymark.mounts" .root | nindent 8 }}
  volumes:
    {{- include "waymark.volumes" .root | nindent 4 }}
    {{- if not .persistent }}
    - name: data
      emptyDir: {}
    {{- end }}
{{- end }}

{{/* The template of the volume of a StatefulSet's pod. It has no label that changes: it is immutable. */}}
{{- define "waymark.claims" -}}
- metadata:
    name: data
    labels:
      {{- include "waymark.selector" . | nindent 6 }}
  spec:
    accessModes: [ReadWriteOnce]
    {{- with .Values.storage.class }}
    storageClassName: {{ . }}
    {{- end }}
    resources:
      requests:
        storage: {{ .Values.storage.size }}
{{- end }}
